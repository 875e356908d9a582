import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, onTestFinished, test, vi } from 'vitest'
import { startFaultProxy } from '../../connectors/certify/fault-proxy.ts'
import { startLocalServer } from '../../connectors/certify/local-server.ts'
import { startEmbeddedPostgres } from '../../emulator/postgres/embedded.ts'
import { type Fault, startFlakyProxy } from '../faults/flaky-proxy.ts'
import { startRedirectingServer } from '../faults/redirecting-server.ts'
import { call, pull, type Row } from '../fixtures/call.ts'
import { readCodeBlocks } from '../fixtures/code-blocks.ts'
import { addHostileTexts } from '../fixtures/hostile-texts.ts'
import { hasAll } from '../fixtures/programs.ts'
import { brand, database, place, prompt, refresh } from '../fixtures/rows.ts'
import { type Scene, scene } from '../fixtures/scene.ts'
import { startTlsServer } from '../fixtures/tls-server.ts'
import { METRICS, sorted } from '../sync/compare-copy.ts'

// Runs the Python program and the SQL statements of docs/sync.md as they stand there.

const run = promisify(execFile)
const blocks = await readCodeBlocks('sync.md')
const page = await readFile(new URL('../../docs/sync.md', import.meta.url), 'utf8')
const db = database()
const folder = await mkdtemp(join(tmpdir(), 'docs-sync-'))
const postgres = await startEmbeddedPostgres()
const client = new pg.Client({ connectionString: postgres.url })
await client.connect()

const nothing = async (_: string): Promise<unknown> => undefined
let before = nothing
/** The service, which runs `before` with the path and query of each request. */
const service = await startFaultProxy(inject('serviceUrl'), async ({ url = '' }) => {
  await before(url)
  return null
})

afterAll(async () => {
  await service.close()
  await client.end()
  await postgres.close()
  await rm(folder, { recursive: true, force: true })
})

/** Runs SQL statements. Returns the rows of the last one. */
type Query = (sql: string) => Promise<Row[]>

/** A copy, and what keeps it current. */
type Copy = {
  readonly endpoints: readonly string[]
  /** Runs the loop until nothing is listed, then the proof. Returns what the proof found. */
  readonly sync: () => Promise<string>
  readonly rows: (endpoint: string, brandId: string) => Promise<Row[]>
  /** Changes what a copy has of a day, if the proof reads the copy. */
  readonly spoil?: () => Promise<unknown>
}

const ENDPOINTS = METRICS.map(({ name }) => name)

let its: Scene
let brandIds: string[]
let copies: Record<string, Copy>

const [program = ''] = blocks('Python', 'python')

/** Runs a Python program. Returns its errors. */
async function runProgram(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const { PATH, HOME } = process.env
  return run('python3', args, { cwd: folder, env: { PATH, HOME, ...env } }).then(
    () => '',
    ({ stderr }: { stderr: string }) => stderr,
  )
}

function pythonCopy(): Copy {
  let faults: Fault[][] = [['dropped'], [429], [503]]
  const withStore = <Result>(use: (store: DatabaseSync) => Result): Result => {
    const store = new DatabaseSync(join(folder, 'export.db'))
    const result = use(store)
    store.close()
    return result
  }
  return {
    endpoints: ENDPOINTS,
    sync: async () => {
      await writeFile(join(folder, 'sync.py'), program)
      const proxy = await startFlakyProxy(service.url, faults)
      faults = []
      const env = { EXPORT_API_KEY: its.key, EXPORT_API_URL: proxy.url }
      return runProgram(['sync.py'], env).finally(proxy.close)
    },
    rows: async (endpoint, brandId) =>
      withStore((store) =>
        store
          .prepare('SELECT row FROM metric_rows WHERE endpoint = ? AND brand_id = ?')
          .all(endpoint, brandId)
          .map(({ row }) => JSON.parse(String(row))),
      ),
  }
}

const literals = (values: readonly unknown[]): string =>
  values
    .map((value) => (typeof value === 'object' ? JSON.stringify(value) : String(value)))
    // DuckDB's command line reads a CRLF of its input as LF.
    .map((value) => `'${value.replaceAll("'", "''").replaceAll('\r', "' || chr(13) || '")}'`)
    .join(', ')

/** The brands that the key reads, and what identifies them. */
type Brands = { readonly ids: readonly string[]; readonly digest: string | null }

async function readBrands(): Promise<Brands> {
  const { data, headers } = await call('/brands', { service: service.url, key: its.key })
  return { ids: data.map(({ id }) => String(id)), digest: headers.get('X-Brands-Digest') }
}

/** Rows of all pages, and the day of `meta.fromDate` of the last page, which is the latest of all. */
type Pages = {
  readonly rows: readonly Row[]
  readonly fromDate: string
  /** What identifies the brands of each page. */
  readonly digests: readonly (string | null)[]
}

async function readPages(path: string, query: Readonly<Record<string, string | undefined>>): Promise<Pages> {
  const rows: Row[] = []
  const digests: (string | null)[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await call(path, { service: service.url, key: its.key, query: { ...query, cursor } })
    rows.push(...page.data)
    digests.push(page.headers.get('X-Brands-Digest'))
    cursor = page.pagination.nextCursor ?? undefined
    if (cursor === undefined) return { rows, fromDate: String(page.meta.fromDate).slice(0, 10), digests }
  }
}

/** Returns the expressions of an engine in the table of digests: the number of a row, and the digest of a day. */
function expressions(engine: string): { number: string; digest: string } {
  const [, number = '', digest = ''] =
    new RegExp(`^\\| ${engine} \\| \`(.*)\` \\| \`(.*)\` \\|$`, 'm').exec(page) ?? []
  return { number, digest }
}

/** Writes the proof, which is in PostgreSQL's SQL, with the expressions of an engine. */
function proofOf(proof: string, engine: string): string {
  const [from, to] = [expressions('PostgreSQL 14'), expressions(engine)]
  const [before = '', after = ''] = from.number.split('row_text')
  const start = proof.indexOf(before)
  const end = proof.indexOf(after, start)
  const rowText = proof.slice(start + before.length, end)
  return proof
    .replace(
      before + rowText + after,
      to.number.replace('row_text', () => rowText),
    )
    .replace(from.digest, to.digest)
}

/** Does what the page leaves to a loader: sends the requests, inserts the pages and stores the state. */
async function sqlCopy(engine: string, query: Query): Promise<Copy> {
  const [tables = '', join = '', replace = '', proof = ''] = blocks('SQL', 'sql')
  await query(tables)

  const land = async (table: string, rows: readonly Row[]) => {
    const tuples = rows.map((row) => `(${literals(Object.values(row))})`)
    if (tuples.length > 0) await query(`insert into ${table} values ${tuples.join(',\n')}`)
  }

  let state: { since?: string; fromDate: string; brandIds: readonly string[] } = { fromDate: '', brandIds }

  async function round(brands: Brands): Promise<'failed' | 'replaced' | 'empty'> {
    let list = await readPages('/changes', { since: state.since })
    if (list.fromDate < state.fromDate) list = await readPages('/changes', {})
    let { rows: listed, fromDate, digests } = list
    if (digests.some((digest) => digest !== brands.digest)) return 'failed'
    const since = listed.at(-1)?.changed_at ?? state.since
    await land('new_changes', listed)
    for (const brandId of brands.ids.filter((id) => !state.brandIds.includes(id))) {
      const { rows } = await readPages('/changes', { brandId })
      await land('new_changes', rows)
      listed = [...listed, ...rows]
    }
    if (listed.length === 0) return 'empty'
    await query(join)
    const windows =
      await query(`select brand_id, cast(from_date as text) as first, cast(to_date as text) as last
      from windows where endpoint = 'visibility'`)
    for (const { brand_id = null, first, last } of windows) {
      const window = { brandId: String(brand_id), fromDate: String(first), toDate: String(last) }
      const { rows, fromDate } = await readPages('/visibility', window)
      if (fromDate > window.fromDate) {
        await query('delete from new_changes; delete from windows; delete from new_visibility')
        return 'failed'
      }
      await land(
        'new_visibility',
        rows.map((row) => ({ brand_id, ...row })),
      )
    }
    await query(replace)
    state = { since: String(since), fromDate, brandIds: brands.ids }
    return 'replaced'
  }

  return {
    endpoints: ['visibility'],
    sync: async () => {
      let brands = await readBrands()
      for (let failures = 0, outcome = ''; outcome !== 'empty'; ) {
        outcome = await round(brands)
        failures = outcome === 'failed' ? failures + 1 : 0
        if (failures === 5) throw new Error('Five rounds in a row have failed.')
        if (outcome === 'failed') brands = await readBrands()
      }
      return (await query(proofOf(proof, engine))).map((row) => JSON.stringify(row)).join('\n')
    },
    rows: async (endpoint, brandId) => {
      const rows = await query(`select cast(date as text) as date, model_id, provider, market_id, market,
        total_prompts, visible_count, visibility_rate from ${endpoint} where brand_id = '${brandId}'`)
      // Drivers return large integers and decimals as text.
      const numbers = ['total_prompts', 'visible_count', 'visibility_rate']
      return rows.map((row) => ({
        ...row,
        ...Object.fromEntries(numbers.map((name) => [name, Number(row[name])])),
      }))
    },
    spoil: () => query(`update visibility set market = market || '!'`),
  }
}

const inPostgres: Query = async (sql) => {
  const results = await client.query(sql)
  return [results].flat().at(-1)?.rows ?? []
}

const inDuckdb: Query = async (sql) => {
  const { status, stdout, stderr } = spawnSync('duckdb', ['-bail', '-json', join(folder, 'copy.duckdb')], {
    input: sql,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
  return stdout.startsWith('[{') ? JSON.parse(stdout) : []
}

const served = async (endpoint: string, brandId: string): Promise<string[]> =>
  sorted(
    await pull(`/${endpoint}`, {
      key: its.key,
      query: { brandId, fromDate: '0001-01-01', toDate: '9999-12-31' },
    }),
  )

/** Brings the service up to date, runs each loop, and compares its copy with what the service serves. */
async function expectExact(): Promise<void> {
  await refresh(db)
  const expected = new Map<string, string[]>()
  for (const endpoint of ENDPOINTS)
    for (const brandId of brandIds) expected.set(endpoint + brandId, await served(endpoint, brandId))

  for (const [name, { endpoints, sync, rows }] of Object.entries(copies)) {
    expect([name, await sync()]).toEqual([name, ''])
    for (const endpoint of endpoints)
      for (const brandId of brandIds) {
        const copied = sorted(await rows(endpoint, brandId))
        expect([name, endpoint, copied]).toEqual([name, endpoint, expected.get(endpoint + brandId)])
      }
  }
}

const setPlan = (plan: string) =>
  db.query('update subscriptions set plan = $2 where organization_id = $1', [its.org.id, plan])

beforeAll(async () => {
  its = await scene(db)
  const second = await brand(db, its.org, { name: 'Second' })
  brandIds = [its.brandId, second]
  await its.rival('Rival')
  // More days than a page of changes holds, and more URLs of one day than a page of citations.
  await db.query(
    `insert into answers (id, prompt_id, model_id, market_id, answered_at)
     select gen_random_uuid(), $1, $2, $3, timestamptz '2023-01-01T12:00Z' + number * interval '1 day'
     from generate_series(0, 509) as number`,
    [its.prompt, its.model, its.market],
  )
  await its.say('2025-11-03T12:00:00Z', {
    mentions: ['Acme', 'Rival'],
    citations: Array.from({ length: 1001 }, (_, number) => ({ url: `https://site.example/${number}` })),
    phrases: [
      { polarity: 'positive', confidence: '0.1001' },
      { polarity: 'negative', confidence: '0.7003' },
    ],
  })
  const judged = [{ competitor: null, recommended: true }]
  await its.say('2026-10-05T12:00:00Z', { mentions: ['Acme'], judged })
  await its.say('2026-10-06T12:00:00Z', { mentions: ['Acme'], judged })
  await its.say('2026-10-06T12:00:00Z', {
    prompt: await prompt(db, second),
    mentions: ['Second'],
    citations: [{ url: 'https://second.example', recordedAt: '2026-10-07T00:00:00Z' }],
  })
  await addHostileTexts(db, second, '2026-10-06')
  copies = {
    ...(hasAll('python3') && { python: pythonCopy() }),
    postgres: await sqlCopy('PostgreSQL 14', inPostgres),
    ...(hasAll('duckdb') && { duckdb: await sqlCopy('DuckDB', inDuckdb) }),
  }
  await expectExact()
})

test('the programs of docs/sync.md keep an exact copy', async () => {
  // An edit of an old answer, a day that empties, renames and a late answer.
  await db.query(
    `with edited as (delete from citations using answers where answers.id = answer_id and prompt_id = $1 and url like '%7')
     delete from sentiment_phrases using answers where answers.id = answer_id and prompt_id = $1 and confidence > 0.5`,
    [its.prompt],
  )
  await db.query(`delete from answers where prompt_id = $1 and answered_at = '2026-10-05T12:00Z'`, [
    its.prompt,
  ])
  await db.query(`update competitors set name = 'Renamed', aliases = '{Rival}' where brand_id = $1`, [
    its.brandId,
  ])
  await db.query(`update brands set name = 'Other', display_name = 'Other' where id = any ($1)`, [brandIds])
  await its.say('2023-02-01T23:00:00Z', { mentions: ['Other'] })
  await expectExact()
  // Nothing has changed.
  await expectExact()
  // A brand that returns changed before `since`.
  const returning = await brand(db, its.org, { name: 'Returning' })
  const setActive = (isActive: boolean) =>
    db.query('update brands set active = $2 where id = $1', [returning, isActive])
  await its.say('2026-10-07T12:00:00Z', { prompt: await prompt(db, returning) })
  await setActive(false)
  await its.say('2026-10-08T12:00:00Z')
  await expectExact()
  await setActive(true)
  brandIds.push(returning)
  await expectExact()
})

/** Whether a request lists the brands, or the changes of all brands. */
const listsBrands = (url: string) => url.includes('/brands')
const listsAllChanges = (url: string) => url.includes('/changes') && !url.includes('brandId=')

const setSecondActive = (isActive: boolean) =>
  db.query('update brands set active = $2 where id = $1', [brandIds[1], isActive])

/** Changes a day of the second brand, and later one of the first. */
async function changeBothBrands(at: string): Promise<void> {
  await its.say(at, { prompt: await prompt(db, brandIds[1] ?? '') })
  await refresh(db)
  await its.say(at)
  await refresh(db)
}

test('a brand that is gone while the changes are listed, and returns, costs no day', async () => {
  await changeBothBrands('2026-10-09T12:00:00Z')
  for (const { sync } of Object.values(copies)) {
    const isActive = [false, true]
    before = async (url) => {
      const next = isActive.at(0)
      if (next === undefined || !(next ? listsBrands : listsAllChanges)(url)) return
      isActive.shift()
      await setSecondActive(next)
    }
    await sync()
    await sync()
    expect(isActive).toEqual([])
    before = nothing
  }
  await expectExact()
})

test('a brand that is back after the brands were listed is loaded by the same run', async () => {
  await changeBothBrands('2026-10-10T12:00:00Z')
  for (const [name, { sync, rows }] of Object.entries(copies)) {
    await setSecondActive(false)
    before = async (url) => {
      if (listsAllChanges(url)) await setSecondActive(true)
    }
    expect([name, await sync()]).toEqual([name, ''])
    before = nothing
    const copied = await rows('visibility', brandIds[1] ?? '')
    expect([name, copied.map(({ date }) => date)]).toEqual([name, expect.arrayContaining(['2026-10-10'])])
  }
  await expectExact()
})

test.runIf(hasAll('python3'))('the Python program ends when the brands keep changing', async () => {
  await changeBothBrands('2026-10-11T12:00:00Z')
  const lists = vi.fn()
  before = async (url) => {
    if (listsBrands(url)) await setSecondActive(true)
    if (!listsAllChanges(url)) return
    await setSecondActive(false)
    lists()
  }
  expect(await copies.python?.sync()).toBe('The brands of the key changed while the changes were listed.\n')
  expect(lists).toHaveBeenCalledTimes(5)
  before = nothing
  await setSecondActive(true)
  await expectExact()
})

test.runIf(hasAll('python3'))('the Python program follows no redirect', async () => {
  const { url, followed, close } = await startRedirectingServer()
  const errors = await runProgram(['-c', program], { EXPORT_API_KEY: its.key, EXPORT_API_URL: url }).finally(
    close,
  )
  expect(errors).toBe('brands: 302: \n')
  expect(followed).toEqual([])
})

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
  const env = { EXPORT_API_KEY: its.key, EXPORT_API_URL: server.url }
  const lines = await runProgram(['-c', impatient + program], env).finally(server.close)
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
])('the Python program ends when the service %s', async (_, sent, message, respond) => {
  const requests = vi.fn(respond)
  const server = await startLocalServer(requests)
  const env = { EXPORT_API_KEY: its.key, EXPORT_API_URL: server.url }
  expect(await runProgram(['-c', program], env).finally(server.close)).toBe(`${message}\n`)
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
  expect(await runProgram(['-c', check], {})).toBe('')
})

/** Starts a service that accepts no key. Keeps the path and the key's headers of each request. */
async function startRejecting() {
  const received: unknown[] = []
  const server = await startLocalServer(({ url, headers }, response) => {
    received.push([url, headers['x-api-key'], headers.authorization])
    response.writeHead(401).end('Rejected.')
  })
  onTestFinished(server.close)
  return { url: server.url, received }
}

test.runIf(hasAll('python3'))(
  'the Python program accepts addresses and keys as people paste them',
  async () => {
    const { url, received } = await startRejecting()
    const addresses = [`${url}/`, `${url}/api/export/v1`, `${url}/api/export/v1/`, ` ${url}\n`]
    for (const EXPORT_API_URL of addresses)
      expect(await runProgram(['-c', program], { EXPORT_API_URL, EXPORT_API_KEY: ' key\r\n' })).toBe(
        'brands: 401: Rejected.\n',
      )
    expect(received).toEqual(addresses.map(() => ['/api/export/v1/brands?', 'key', 'Bearer key']))
  },
)

test.runIf(hasAll('python3'))(
  'the Python program names a setting that is wrong, and shows no key',
  async () => {
    const { url, received } = await startRejecting()
    for (const EXPORT_API_URL of [undefined, 'api.example.com', 'htps://api.example.com', `${url}/?a=b`])
      expect(
        await runProgram(['-c', program], {
          EXPORT_API_KEY: 'key',
          ...(EXPORT_API_URL && { EXPORT_API_URL }),
        }),
      ).toBe('Set EXPORT_API_URL to an address such as https://api.example.com.\n')
    for (const EXPORT_API_KEY of [undefined, '\n', 'a key', 'a\nkey', 'clé', 'a\u0001key'])
      expect(
        await runProgram(['-c', program], { EXPORT_API_URL: url, ...(EXPORT_API_KEY && { EXPORT_API_KEY }) }),
      ).toBe('Set EXPORT_API_KEY to your API key, without other characters.\n')
    expect(received).toEqual([])
  },
)

test.runIf(hasAll('python3', 'openssl'))(
  'the Python program reads SSL_CERT_FILE, and retries no certificate',
  async () => {
    const { url, certificate } = await startTlsServer((_, response) =>
      response.writeHead(401).end('Rejected.'),
    )
    const env = { EXPORT_API_KEY: 'key', EXPORT_API_URL: url }
    expect(await runProgram(['-c', program], env)).toMatch(
      /^brands: .*CERTIFICATE_VERIFY_FAILED.* set SSL_CERT_FILE .*\n$/,
    )
    const trusted = await runProgram(['-c', program], { ...env, SSL_CERT_FILE: certificate })
    expect(trusted).toBe('brands: 401: Rejected.\n')
  },
)

test('a plan that is lowered between two pages of a fetch, and raised later, costs no day', async () => {
  // More rows of days that the lower plan does not reach than a page has.
  for (const { model, market } of [await place(db), await place(db)])
    await db.query(
      `insert into answers (id, prompt_id, model_id, market_id, answered_at)
       select gen_random_uuid(), prompt_id, $2, $3, answered_at from answers
       where prompt_id = $1 and answered_at < '2024-06-01' and model_id = $4`,
      [its.prompt, model, market, its.model],
    )
  await refresh(db)
  for (const [name, { sync }] of Object.entries(copies)) {
    const lower = vi.fn(() => setPlan('pro'))
    before = async (url) => {
      if (url.includes('cursor=') && !url.includes('/changes')) await lower()
    }
    expect([name, await sync()]).toEqual([name, ''])
    expect(lower).toHaveBeenCalled()
    before = nothing
    await setPlan('enterprise')
  }
  await expectExact()
})

test('the proof of docs/sync.md finds a day that differs', async () => {
  for (const [name, { spoil, sync }] of Object.entries(copies)) {
    if (spoil === undefined) continue
    await spoil()
    expect([name, await sync()]).not.toEqual([name, ''])
  }
})

test.runIf(hasAll('python3'))(
  'the Python program leaves days that the plan does not reach, and loads them when it does',
  async () => {
    // A spoiled copy is loaded again from the beginning.
    const python = pythonCopy()
    await rm(join(folder, 'export.db'), { force: true })
    await python.sync()
    const before = await python.rows('visibility', its.brandId)

    await setPlan('pro')
    const recent = new Date(Date.now() - 10 * 86_400_000).toISOString()
    await its.say('2023-02-01T23:00:00Z')
    await its.say(recent)
    await refresh(db)
    expect(await python.sync()).toBe('')
    const after = await python.rows('visibility', its.brandId)
    const isNew = ({ date }: Row) => date === recent.slice(0, 10)
    expect(after.filter(isNew)).toHaveLength(1)
    expect(sorted(after.filter((row) => !isNew(row)))).toEqual(sorted(before))

    await setPlan('enterprise')
    expect(await python.sync()).toBe('')
    expect(sorted(await python.rows('visibility', its.brandId))).toEqual(
      await served('visibility', its.brandId),
    )
  },
)
