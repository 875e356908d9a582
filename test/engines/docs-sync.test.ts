import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { startLocalServer } from '../../connectors/certify/local-server.ts'
import { withClient } from '../../drizzle/db/connect.ts'
import { startEmbeddedPostgres } from '../../emulator/postgres/embedded.ts'
import { pull, type Row } from '../fixtures/call.ts'
import { readCodeBlocks } from '../fixtures/code-blocks.ts'
import { addHostileTexts } from '../fixtures/hostile-texts.ts'
import { hasAll } from '../fixtures/programs.ts'
import { database, refresh } from '../fixtures/rows.ts'
import { answeredDays } from '../fixtures/scene.ts'
import { startTlsServer } from '../fixtures/tls-server.ts'
import { sorted } from '../sync/compare-copy.ts'

// Runs the SQL statements and the Python program of docs/sync.md as they stand there. That the program keeps an exact copy:
// connectors/certify/test/certify.test.ts.

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

test.each(ENGINES)('the statements keep an exact copy in %s, and prove it', async (engine, query) => {
  const [tables = '', join = '', replace = '', proof = ''] = blocks('SQL', 'sql')
  const { brandId, key, prompt, say } = await answeredDays(db, { first: '2026-10-01', days: 3 })
  await addHostileTexts(db, brandId, '2026-10-05')
  const served = (endpoint: string, query: Readonly<Record<string, string | undefined>> = {}) =>
    pull(`/${endpoint}`, { key, query: { brandId, fromDate: '2026-10-01', ...query } })
  const land = async (table: string, rows: readonly Row[]) => {
    const tuples = rows.map((row) => `(${literals(Object.values(row))})`)
    if (tuples.length > 0) await query(`insert into ${table} values ${tuples.join(',\n')}`)
  }
  let since: string | undefined
  /** Runs a round as the page says. Returns the windows of visibility, and the days that the proof finds. */
  const round = async () => {
    const changes = await served('changes', { since })
    since = String(changes.at(-1)?.changed_at)
    // A day that changes while it is listed is listed twice.
    const earlier = changes.map((change) => ({ ...change, digest: 'earlier', changed_at: '2026-01-01' }))
    await land('new_changes', [...changes, ...earlier])
    await query(join)
    const windows = await query(`select cast(from_date as text) as first, cast(to_date as text) as last
      from windows where endpoint = 'visibility' order by first`)
    for (const { first, last } of windows) {
      const rows = await served('visibility', { fromDate: String(first), toDate: String(last) })
      await land(
        'new_visibility',
        rows.map((row) => ({ brand_id: brandId, ...row })),
      )
    }
    await query(replace)
    const found = await query(proofOf(proof, engine))
    return { windows: windows.map(({ first, last }) => `${first} ${last}`), found }
  }
  await query(tables)
  expect(await round()).toEqual({
    windows: ['2026-10-01 2026-10-03', '2026-10-05 2026-10-05'],
    found: [],
  })

  // A day empties, one changes, and two are new.
  await db.query(`delete from answers where prompt_id = $1 and answered_at < '2026-10-02'`, [prompt])
  for (const day of ['2026-10-03', '2026-10-04', '2026-10-08'])
    await say(`${day}T15:00:00Z`, { mentions: ['Acme'] })
  await refresh(db)
  expect(await round()).toEqual({
    windows: ['2026-10-03 2026-10-04', '2026-10-08 2026-10-08'],
    found: [],
  })
  const copied = await query('select cast(date as text) as date, model_id, provider from visibility')
  const expected = (await served('visibility')).map(({ date = null, model_id = null, provider = null }) => ({
    ...{ date, model_id, provider },
  }))
  expect(sorted(copied)).toEqual(sorted(expected))
  await query(`update visibility set market = market || '!' where date = '2026-10-03'`)
  expect(await query(proofOf(proof, engine))).toHaveLength(1)
})

/** Runs the Python program, or another one, with a key at an address. Returns its errors. */
async function runProgram(
  env: Readonly<Record<string, string | undefined>> = {},
  text = program,
): Promise<string> {
  const { PATH, HOME } = process.env
  return run('python3', ['-c', text], {
    cwd: folder,
    env: { PATH, HOME, EXPORT_API_KEY: 'key', ...env },
  }).then(
    () => '',
    ({ stderr }: { stderr: string }) => stderr,
  )
}

test.runIf(hasAll('python3'))('the Python program retries as docs/specification.md says', async () => {
  const broken: readonly (readonly [status: number, body?: string, retryAfter?: string])[] = [
    [429],
    [200, '{"data": ['],
    [200, '{}'],
    [500, '', '-5'],
    [599, '', '7'],
    [502, '', 'Wed, 25 Nov 2026 12:00:00 GMT'],
    [504],
    [429, '', '60'],
    [503],
  ]
  const requests = vi.fn()
  const server = await startLocalServer((_, response) => {
    const [status, body = '', retryAfter] = broken[requests.mock.calls.length] ?? [503, 'The last one.']
    requests()
    response.writeHead(status, retryAfter === undefined ? {} : { 'Retry-After': retryAfter }).end(body)
  })
  const impatient = 'import time; time.sleep = lambda seconds: None\n'
  const lines = await runProgram({ EXPORT_API_URL: server.url }, impatient + program).finally(server.close)
  expect([...lines.matchAll(/^brands: .* Waits (\d+) s\.$/gm)].map(([, seconds]) => Number(seconds))).toEqual(
    [12, 2, 4, 8, 7, 12, 12, 60, 12],
  )
  expect(lines.trimEnd().split('\n').at(-1)).toBe('brands: 503: The last one.')
  expect(requests).toHaveBeenCalledTimes(10)
})

test.runIf(hasAll('python3')).each<[string, number, string, RequestListener]>([
  [
    'asks for a long wait',
    1,
    'brands: 503: Busy. It asks to wait 99999999999 s.',
    (_, response) => response.writeHead(503, { 'Retry-After': '99999999999' }).end('Busy.'),
  ],
  // It sends the key to no other address.
  [
    'redirects',
    1,
    'brands: 302: ',
    (_, response) => response.writeHead(302, { Location: '/elsewhere' }).end(),
  ],
  [
    'sends a body without end',
    1,
    'brands: The response is more than a page.',
    (_, response) => void pipeline(Readable.from(repeat(Buffer.alloc(1_000_000))), response).catch(() => {}),
  ],
  [
    'sends the same cursor again',
    3,
    'changes: The pages do not end.',
    (_, response) =>
      response
        .setHeader('X-Brands-Digest', '0')
        .end('{"data": [], "pagination": {"nextCursor": "a"}, "meta": {"fromDate": "2026-10-01"}}'),
  ],
  [
    'lists other brands each time',
    11,
    'The brands of the key changed while the changes were listed.',
    ({ url = '' }, response) =>
      response
        .setHeader('X-Brands-Digest', url.includes('/brands') ? '0' : '1')
        .end('{"data": [], "pagination": {"nextCursor": null}, "meta": {"fromDate": "2026-10-01"}}'),
  ],
])('the Python program ends when the service %s', async (_, sent, message, respond) => {
  const requests = vi.fn(respond)
  const server = await startLocalServer(requests)
  expect(await runProgram({ EXPORT_API_URL: server.url }).finally(server.close)).toBe(`${message}\n`)
  expect(requests).toHaveBeenCalledTimes(sent)
})

function* repeat<Item>(item: Item): Generator<Item> {
  for (;;) yield item
}

test.runIf(hasAll('python3'))('the Python program requests days in the fewest pages', async () => {
  const [windows = ''] = /^def windows[\s\S]*?(?=^def number)/m.exec(program) ?? []
  const listed = { '2026-10-01': 400, '2026-10-03': 500, '2026-10-05': 100, '2026-10-06': 0 }
  const stored = { '2026-10-02': 1100, '2026-10-04': 400, '2026-10-06': 9 }
  const check = `PAGE_SIZE = 1000\n${windows}assert windows(${JSON.stringify(listed)}, ${JSON.stringify(stored)}) == [
    ("2026-10-01", "2026-10-01"), ("2026-10-03", "2026-10-05")]`
  expect(await runProgram({}, check)).toBe('')
})

test.runIf(hasAll('python3'))(
  'the Python program reads addresses and keys as people paste them',
  async () => {
    const received: unknown[] = []
    const { url, close } = await startLocalServer(({ url, headers }, response) => {
      received.push([url, headers['x-api-key'], headers.authorization])
      response.writeHead(401).end('Rejected.')
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
      expect(await runProgram({ EXPORT_API_URL, EXPORT_API_KEY: ' key\r\n' })).toBe(
        'brands: 401: Rejected.\n',
      )
    expect(received).toEqual(addresses.map(() => ['/api/export/v1/brands?', 'key', 'Bearer key']))
  },
)

test.runIf(hasAll('python3', 'openssl'))(
  'the Python program reads SSL_CERT_FILE, and retries no certificate',
  async () => {
    const { url, certificate } = await startTlsServer((_, response) =>
      response.writeHead(401).end('Rejected.'),
    )
    expect(await runProgram({ EXPORT_API_URL: url })).toMatch(
      /^brands: .*CERTIFICATE_VERIFY_FAILED.* set SSL_CERT_FILE .*\n$/,
    )
    const trusted = await runProgram({ EXPORT_API_URL: url, SSL_CERT_FILE: certificate })
    expect(trusted).toBe('brands: 401: Rejected.\n')
  },
)
