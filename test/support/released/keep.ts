import { readFile, writeFile } from 'node:fs/promises'
import pg from 'pg'
import { findWorkers } from '../../../bundle/find-workers.ts'
import { readWranglerConfig } from '../../../bundle/wrangler-config.ts'
import { run } from '../../../cli/run.ts'
import { refreshAll } from '../../../drizzle/db/refresh.ts'
import { type Emulator, startEmulator } from '../../../emulator/start.ts'
import { BINDINGS } from '../../../emulator/workers/bindings.ts'
import { BASE } from '../../../lib/app.ts'
import { signCursor } from '../../../lib/cursor.ts'
import { STATEMENTS } from '../../../lib/prepared-statement.ts'
import { readJournal } from '../journal.ts'
import { buildWorld, type Statement, WORLD } from '../released.ts'

// Keeps what the Workers of this commit are for those who come after: their statements and their document.

const HERE = new URL('./', import.meta.url)
const DOCUMENT = new URL('../../../functions/openapi.json', import.meta.url)

/** The requests that make a Worker send everything that it ever asks the database. */
async function requestsOf(client: pg.Client, name: string): Promise<string[]> {
  const found = (await findWorkers()).find((worker) => worker.name === name)?.operation
  if (found === undefined) return ['']
  if (!found.paged) return ['']
  const { brandId, day } = WORLD
  const { rows } = await client.query<{ after: string[] }>(
    `select (select array_agg(to_jsonb(stored) ->> attname order by place)
             from pg_index cross join unnest(indkey) with ordinality as key (attnum, place)
             join pg_attribute on attrelid = indrelid and pg_attribute.attnum = key.attnum
             where indrelid = $1::regclass and indisprimary and attname <> 'brand_id') as after
     from daily.${found.path.slice(1).replaceAll('-', '_')} as stored where brand_id = $2 and date = $3 limit 1`,
    [`daily.${found.path.slice(1).replaceAll('-', '_')}`, brandId, day],
  )
  const window = { first: day, last: '2026-10-31', end: '2026-10-31T23:59:59.999Z' }
  const dates = { fromDate: window.first, toDate: window.last }
  const cursor = await signCursor(
    { window, after: rows[0]?.after ?? [] },
    { endpoint: found.path, brandId, ...dates },
    [BINDINGS.CURSOR_SECRET],
  )
  const query = (some: Record<string, string>) => `?${new URLSearchParams(some)}`
  return [query({ brandId, ...dates }), query({ brandId, ...dates, cursor }), query({})]
}

/** A call of a function that holds a statement: a Worker that finds none asks with its text, which is what is kept. */
const isCall = ({ query }: Statement) => query.startsWith(`select * from ${STATEMENTS}.`)

async function statementsOf(emulator: Emulator, client: pg.Client, sent: Statement[], asks: { now: string }) {
  const { workers } = await readWranglerConfig()
  for (const { name, route, crons } of workers.filter(({ hasSecrets }) => hasSecrets)) {
    asks.now = name
    if (crons.length > 0) await emulator.runCron(name)
    if (route === undefined) continue
    for (const query of await requestsOf(client, name)) {
      await fetch(`${emulator.url}${BASE}/${name}${query}`, { headers: { 'X-API-Key': WORLD.key } })
    }
  }
  // What is asked for when an answer is too large takes the same parameters.
  const kept = (await findWorkers()).flatMap(({ statements }) => statements)
  const asked = sent
    .filter((statement) => !isCall(statement))
    .flatMap((statement) => {
      const smaller = kept.find(({ sql }) => sql === statement.query)?.smaller
      return smaller === undefined ? [statement] : [statement, { ...statement, query: smaller.sql }]
    })
  return [...new Map(asked.map((statement) => [statement.query, statement])).values()]
}

await run(async () => {
  const document = await readFile(DOCUMENT, 'utf8')
  const sent: Statement[] = []
  const asks = { now: '' }
  const emulator = await startEmulator({
    host: '127.0.0.1',
    port: 0,
    crons: false,
    intercept: (service, request) =>
      service === 'neon'
        ? request
            .clone()
            .json()
            .then(({ query, params }: Pick<Statement, 'query' | 'params'>) => {
              const role = new URL(request.headers.get('Neon-Connection-String') ?? '').username
              sent.push({ worker: asks.now, role, query, params })
              return undefined
            })
        : undefined,
  })
  const client = new pg.Client({ connectionString: emulator.databaseUrl })
  try {
    await client.connect()
    const migration = (await readJournal()).at(-1)?.tag ?? ''
    await buildWorld(client, { migration })
    await refreshAll(client)
    const statements = await statementsOf(emulator, client, sent, asks)
    await writeFile(
      new URL('statements.json', HERE),
      `${JSON.stringify({ migration, statements }, null, 2)}\n`,
    )
    await writeFile(new URL('openapi.json', HERE), document)
    console.log(`test/released holds ${statements.length} statements after ${migration}, and the document.`)
  } finally {
    await client.end()
    await emulator.close()
  }
})
