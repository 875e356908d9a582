import { copyFile, readFile, writeFile } from 'node:fs/promises'
import pg from 'pg'
import { findWorkers } from '../../../bundle/find-workers.ts'
import { migrateToLatest } from '../../../bundle/migrate-to-latest.ts'
import { readWranglerConfig } from '../../../bundle/wrangler-config.ts'
import { startEmulator } from '../../../emulator/start.ts'
import { BINDINGS } from '../../../emulator/workers/bindings.ts'
import { BASE } from '../../../lib/app.ts'
import { signCursor } from '../../../lib/cursor.ts'
import { STATEMENTS } from '../../../lib/prepared-statement.ts'
import { type Released, runAfter, STATEMENTS_FILE, type Statement, WORLD } from '../released.ts'

// `npm run release` keeps what clients and deployed Workers of this commit rely on: the OpenAPI document, and every
// statement that the Workers send, with its rows.

const DOCUMENT = new URL('../../../functions/openapi.json', import.meta.url)

let worker = ''
const sent = new Map<string, Statement>()

const emulator = await startEmulator({
  host: '127.0.0.1',
  port: 0,
  crons: false,
  intercept: async (service, request) => {
    if (service !== 'neon') return undefined
    const { query, params } = (await request.clone().json()) as Pick<Statement, 'query' | 'params'>
    const role = new URL(request.headers.get('Neon-Connection-String') ?? '').username
    // The database has no functions of statements yet, so each call is followed by the statement's text.
    if (!query.startsWith(`select * from ${STATEMENTS}.`)) sent.set(query, { worker, role, query, params })
    return undefined
  },
})
const client = new pg.Client({ connectionString: emulator.databaseUrl })
await client.connect()
try {
  await migrateToLatest(client)
  await client.query(`drop schema ${STATEMENTS} cascade`)
  await client.query(await readFile(WORLD.sql, 'utf8'))

  const { workers } = await readWranglerConfig()
  for (const { name } of workers.filter(({ crons }) => crons.length > 0)) {
    worker = name
    await emulator.runCron(name)
  }
  for (const { name } of workers.filter(({ hasSecrets, route }) => hasSecrets && route !== undefined)) {
    worker = name
    for (const query of await queriesOf(name)) {
      await fetch(`${emulator.url}${BASE}/${name}?${query}`, { headers: { 'X-API-Key': WORLD.key } })
    }
  }
  const refreshes = [...sent.values()].filter(({ role }) => role === 'export_api_refresher')
  const reads = await runAfter(client, [...sent.values()])
  const kept: (Statement | Released)[] = [...refreshes, ...reads]
  await writeFile(STATEMENTS_FILE, `${JSON.stringify(kept, null, 2)}\n`)
  await copyFile(DOCUMENT, new URL('./openapi.json', import.meta.url))
  console.log(`Kept ${kept.length} statements and the OpenAPI document.`)
} finally {
  await client.end()
  await emulator.close()
}

/** The queries that make a Worker send all of its statements: a first page, a next page and a bad request. */
async function queriesOf(name: string): Promise<URLSearchParams[]> {
  const operation = (await findWorkers()).find((worker) => worker.name === name)?.operation
  if (operation === undefined || operation.kind === 'listing') return [new URLSearchParams()]
  const { first, last, after } =
    operation.kind === 'changes'
      ? WORLD.changes
      : { first: WORLD.day, last: '2026-10-31', after: await storedKey(name) }
  const asked = { brandId: WORLD.brandId, fromDate: first, toDate: last }
  const cursor = await signCursor(
    { window: { first, last, end: `${last}T23:59:59.999Z` }, plan: 'enterprise', after },
    { endpoint: operation.path, ...asked },
    [BINDINGS.CURSOR_SECRET],
  )
  return [new URLSearchParams(asked), new URLSearchParams({ ...asked, cursor }), new URLSearchParams()]
}

/** The key of a stored row of a metric. */
async function storedKey(name: string): Promise<string[]> {
  const table = `daily.${name.replaceAll('-', '_')}`
  const { rows } = await client.query<{ after: string[] }>(
    `select (
       select array_agg(to_jsonb(stored) ->> attname order by place)
       from pg_index cross join unnest(indkey) with ordinality as key (attnum, place)
       join pg_attribute on attrelid = indrelid and pg_attribute.attnum = key.attnum
       where indrelid = $1::regclass and indisprimary and attname <> 'brand_id'
     ) as after
     from ${table} as stored where brand_id = $2 and date = $3 limit 1`,
    [table, WORLD.brandId, WORLD.day],
  )
  return rows[0]?.after ?? []
}
