import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { afterAll, expect, inject, onTestFinished, test } from 'vitest'
import { startLocalServer } from '../../connectors/certify/local-server.ts'
import { withClient } from '../../drizzle/db/connect.ts'
import { startEmbeddedPostgres } from '../../emulator/postgres/embedded.ts'
import { call, pull, type Row } from '../fixtures/call.ts'
import { readCodeBlocks } from '../fixtures/code-blocks.ts'
import { addHostileTexts } from '../fixtures/hostile-texts.ts'
import { hasAll } from '../fixtures/programs.ts'
import { brand, database, exportKey, refresh } from '../fixtures/rows.ts'
import { answeredDays } from '../fixtures/scene.ts'
import { tenant } from '../fixtures/tenant.ts'
import { startTlsServer } from '../fixtures/tls-server.ts'
import { METRICS, sorted } from '../sync/compare-copy.ts'

// Runs the SQL statements and the Python program of docs/sync.md as they stand there. That the program keeps an exact copy
// whatever fails: connectors/certify/test/certify.test.ts.

const run = promisify(execFile)
const blocks = await readCodeBlocks('sync.md')
const page = await readFile(new URL('../../docs/sync.md', import.meta.url), 'utf8')
const [program = ''] = blocks('Python', 'python')
const db = database()
const folder = await mkdtemp(join(tmpdir(), 'docs-sync-'))
const postgres = await startEmbeddedPostgres()

afterAll(async () => {
  await postgres.close()
  await rm(folder, { recursive: true, force: true })
})

/** Runs SQL statements. Returns the rows of the last one. */
type Query = (sql: string) => Promise<Row[]>

const inPostgres: Query = (sql) =>
  withClient(postgres.url, async (client) => {
    const results = await client.query(sql)
    return [results].flat().at(-1)?.rows ?? []
  })

const inDuckdb: Query = async (sql) => {
  const { status, stdout, stderr } = spawnSync('duckdb', ['-bail', '-json', join(folder, 'copy.duckdb')], {
    input: sql,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
  return stdout.startsWith('[{') ? JSON.parse(stdout) : []
}

const literals = (values: readonly unknown[]): string =>
  values
    .map((value) => (typeof value === 'object' ? JSON.stringify(value) : String(value)))
    // DuckDB's command line reads a CRLF of its input as LF.
    .map((value) => `'${value.replaceAll("'", "''").replaceAll('\r', "' || chr(13) || '")}'`)
    .join(', ')

/** Writes the proof, which is in PostgreSQL's SQL, with an engine's expressions of the table of digests. */
function proofOf(proof: string, engine: string): string {
  const expressions = (of: string) =>
    new RegExp(`^\\| ${of} \\| \`(.*)\` \\| \`(.*)\` \\|$`, 'm').exec(page)?.slice(1) ?? []
  const [[number = '', digest = ''], [itsNumber = '', itsDigest = '']] = [
    expressions('PostgreSQL 14'),
    expressions(engine),
  ]
  const [before = '', after = ''] = number.split('row_text')
  const start = proof.indexOf(before) + before.length
  const rowText = proof.slice(start, proof.indexOf(after, start))
  return proof
    .replace(before + rowText + after, () => itsNumber.replace('row_text', () => rowText))
    .replace(digest, () => itsDigest)
}

const ENGINES: [string, Query][] = [['PostgreSQL 14', inPostgres]]
if (hasAll('duckdb')) ENGINES.push(['DuckDB', inDuckdb])

test('the statements keep an exact copy, whose digests are those of the service', async () => {
  const [tables = '', replace = ''] = blocks('SQL', 'sql')
  const [proof = ''] = blocks('Prove each day', 'sql')
  const { brandId, key, prompt, say } = await answeredDays(db, { first: '2026-10-01', days: 3 })
  await addHostileTexts(db, brandId, '2026-10-05')
  const digests = new Map<unknown, unknown>()
  let cursor: string | undefined
  /** Reads pages to the end, and replaces the days of each as the document says. */
  const copyDays = async () => {
    for (let hasMore = true; hasMore; ) {
      const { data, pagination } = await call('/days', { key, query: { cursor } })
      await withClient(postgres.url, (client) =>
        client.query(
          `insert into new_days select * from jsonb_to_recordset($1)
           as day (endpoint text, brand_id uuid, date date, "offset" bigint, rows jsonb)`,
          [JSON.stringify(data)],
        ),
      )
      cursor = String(pagination.nextCursor)
      await inPostgres(replace.replace('the nextCursor of the page', cursor))
      for (const { endpoint, date, digest } of data) if (endpoint === 'visibility') digests.set(date, digest)
      hasMore = pagination.hasMore
    }
  }
  await inPostgres(tables)
  await copyDays()
  // A day empties, one changes, and two are new.
  await db.query(`delete from answers where prompt_id = $1 and answered_at < '2026-10-02'`, [prompt])
  for (const day of ['2026-10-03', '2026-10-04', '2026-10-08'])
    await say(`${day}T15:00:00Z`, { mentions: ['Acme'] })
  await refresh(db)
  await copyDays()

  const copied = await inPostgres(
    'select brand_id::text, date::text, model_id, provider, market_id::text, market, total_prompts::int, visible_count::int, visibility_rate::float from visibility',
  )
  const served = await pull('/visibility', { key, query: { brandId, fromDate: '2026-10-01' } })
  expect(sorted(copied)).toEqual(sorted(served.map((row) => ({ brand_id: brandId, ...row }))))
  expect(await inPostgres('select * from state')).toEqual([{ next_cursor: cursor }])

  const expected = [...digests].filter(([day]) => day !== '2026-10-01').sort()
  for (const [engine, query] of ENGINES) {
    if (query !== inPostgres) {
      await query((tables.split(';')[0] ?? '').concat(';'))
      const tuples = copied.map((row) => `(${literals(Object.values(row))})`)
      await query(`insert into visibility values ${tuples.join(',\n')}`)
    }
    const digest = proofOf(proof, engine).trim().replace(/;$/, '')
    const found = await query(
      `select cast(date as text) as day, digest from (${digest}) as proof order by day`,
    )
    expect(
      found.map(({ day, digest }) => [day, digest]),
      engine,
    ).toEqual(expected)
  }
})

/** Runs the Python program with a key at an address. Returns its errors. */
async function runProgram(env: Readonly<Record<string, string | undefined>> = {}): Promise<string> {
  const { PATH, HOME } = process.env
  return run('python3', ['-c', program], {
    cwd: folder,
    env: { PATH, HOME, EXPORT_API_KEY: 'key', ...env },
  }).then(
    () => '',
    ({ stderr }: { stderr: string }) => stderr,
  )
}

test.runIf(hasAll('python3'))('the Python program keeps an exact copy of one organization', async () => {
  const its = await answeredDays(db, { first: '2026-10-01', days: 3 })
  const other = await brand(db, its.org, { name: 'Other' })
  await addHostileTexts(db, other, '2026-10-05')
  const load = (key = its.key) => runProgram({ EXPORT_API_URL: inject('serviceUrl'), EXPORT_API_KEY: key })
  const copied = () => {
    const copy = new DatabaseSync(join(folder, 'export.db'), { readOnly: true })
    const rows = copy.prepare('select * from metric_rows').all()
    copy.close()
    return sorted(
      rows.map(({ brand_id, endpoint, row }) => ({ brand_id, endpoint, ...JSON.parse(String(row)) })),
    )
  }
  const served = async (...brands: string[]) => {
    const query = { fromDate: '2026-10-01' }
    const rows = brands.flatMap((brand_id) =>
      METRICS.map(async ({ path }) => {
        const found = await pull(path, { key: its.key, query: { ...query, brandId: brand_id } })
        return found.map((row) => ({ brand_id, endpoint: path.slice(1), ...row }))
      }),
    )
    return sorted((await Promise.all(rows)).flat())
  }
  expect(await load()).toBe('')
  expect(copied()).toEqual(await served(its.brandId, other))

  // A day empties, one changes, and a brand leaves.
  await db.query(`delete from answers where prompt_id = $1 and answered_at < '2026-10-02'`, [its.prompt])
  await its.say('2026-10-03T15:00:00Z', { mentions: ['Acme'] })
  await db.query('update brands set active = false where id = $1', [other])
  await refresh(db)
  expect(await load()).toBe('')
  expect(copied()).toEqual(await served(its.brandId))

  // Its rows were kept, and come again.
  await db.query('update brands set active = true where id = $1', [other])
  await refresh(db)
  const { key } = await exportKey(db, its.org)
  expect(await load(key)).toBe('')
  const both = await served(its.brandId, other)
  expect(copied()).toEqual(both)

  const { key: foreign } = await tenant(db)
  expect(await load(foreign)).toMatch(/^days: 400: /)
  expect(copied()).toEqual(both)
  await rm(join(folder, 'export.db'))
})

test.runIf(hasAll('python3'))(
  'the Python program reads addresses and keys as people paste them, and shows no key',
  async () => {
    const received: unknown[] = []
    const { url, close } = await startLocalServer(({ url, headers }, response) => {
      received.push([url, headers['x-api-key'], headers.authorization])
      response.writeHead(401).end('Rejected a/key, A%2FKEY\x1b[2J.')
    })
    onTestFinished(close)
    for (const EXPORT_API_URL of [undefined, 'api.example.com', 'htps://api.example.com', `${url}/?a=b`])
      expect(await runProgram({ EXPORT_API_URL })).toBe(
        'Set EXPORT_API_URL to an address such as https://api.example.com.\n',
      )
    for (const EXPORT_API_KEY of [undefined, 'a key', 'clé', 'a\u0001key'])
      expect(await runProgram({ EXPORT_API_URL: url, EXPORT_API_KEY })).toBe(
        'Set EXPORT_API_KEY to your API key, without other characters.\n',
      )
    expect(received).toEqual([])
    const addresses = [`${url}/`, ` ${url}/api/export/v1/\n`]
    for (const EXPORT_API_URL of addresses)
      expect(await runProgram({ EXPORT_API_URL, EXPORT_API_KEY: ' a/key\r\n' })).toBe(
        'days: 401: Rejected <API key>, <API key> [2J.\n',
      )
    expect(received).toEqual(addresses.map(() => ['/api/export/v1/days?cursor=', 'a/key', 'Bearer a/key']))
  },
)

test.runIf(hasAll('python3', 'openssl'))('the Python program reads SSL_CERT_FILE', async () => {
  const { url, certificate } = await startTlsServer((_, response) => response.writeHead(401).end('Rejected.'))
  const trusted = await runProgram({ EXPORT_API_URL: url, SSL_CERT_FILE: certificate })
  expect(trusted).toBe('days: 401: Rejected.\n')
})
