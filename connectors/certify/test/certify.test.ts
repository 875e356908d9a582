import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { readStreams } from '../../../site/reference/streams.ts'
import { readCodeBlocks } from '../../../test/fixtures/code-blocks.ts'
import { environment } from '../../python-environment.ts'
import { certify, certifyAll } from '../certify.ts'
import { runLoader } from '../command.ts'
import { compare, plain, textsOf, unexpectedTypes } from '../compare.ts'
import { copyReader } from '../copies.ts'
import { life } from '../life.ts'
import { startService } from '../service.ts'

const folder = await mkdtemp(join(tmpdir(), 'certify-test-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const SUCCESS = 'Every run that can succeed ends with exit code 0.'
const RETRY = 'No request is sent again before Retry-After allows it.'
const AGENT = 'The User-Agent is its own, and the same for all requests.'
const TYPES = 'Columns have the types of the fields.'
const OF_RUNS = life('2026-11-24').map(({ promise }) => promise)

/** Finds the promises of runs that begin with these words. */
const promises = (...words: readonly string[]): string[] =>
  words.flatMap((word) => OF_RUNS.filter((promise) => promise.startsWith(word)))

const ALL = [...OF_RUNS, SUCCESS, RETRY, AGENT, TYPES]

/** What a loader does wrong: parts of the program of docs/sync.md, and what stands in their place. */
type Mistakes = Readonly<Record<string, string>>

const OPEN = '    with db:\n        for day in days:'
const STORE = `db.execute("DELETE FROM state")
        db.execute("INSERT INTO state VALUES (?)", [pagination["nextCursor"]])`
const CURSOR = '[cursor] ='
const GET_DAYS = 'days, pagination = get("days", "data", "pagination", cursor=cursor)'
const GET_BRANDS = '[brands] = get("brands", "data")'

/** Loaders, the promises that they break, and those that this makes untestable. */
const LOADERS: Readonly<Record<string, readonly [Mistakes, readonly string[], (readonly string[])?]>> = {
  'of the page': [{}, []],
  'does not retry': [
    { 'range(10)': 'range(1)' },
    [...promises('A run waits', 'A run outlasts'), SUCCESS],
    [RETRY],
  ],
  'skips the delete': [
    { 'if day["offset"] == 0:': 'if False:' },
    OF_RUNS.filter((promise) => !promises('Every', 'A run without', 'A revoked').includes(promise)),
  ],
  'deletes at each part, and has no User-Agent of its own': [
    { 'if day["offset"] == 0:': 'if True:', ', "User-Agent": "acme-warehouse/1.0"': '' },
    [...promises('A day in parts'), AGENT],
  ],
  'ignores hasMore': [
    { 'while has_more:': 'for _ in range(1):' },
    OF_RUNS.filter(
      (promise) =>
        !promises('A day that has emptied', 'Rows of a brand that left', 'A revoked').includes(promise),
    ),
  ],
  'stores the cursor before the rows, and hides errors': [
    { [OPEN]: `    with db:\n        ${STORE}\n${OPEN}`, 'sys.exit(f"{path}: " + ': 'sys.exit(0 and ' },
    promises('A 403', 'A damaged page', 'A revoked'),
  ],
  'stores cursors at once, and the rows at the end': [
    {
      [OPEN]:
        '    open("cursor", "w").write(pagination["nextCursor"])\n    if True:\n        for day in days:',
      [CURSOR]: 'cursor = open("cursor").read() if os.path.exists("cursor") else ""\n    _ =',
    },
    promises('A rename', 'A damaged page'),
  ],
  'stores no cursor, and reads the brands once': [
    {
      'has_more = True\n': 'has_more = True\ndb.execute("DELETE FROM state")\n',
      [GET_BRANDS]: `if db.execute("SELECT * FROM brands").fetchone():\n    sys.exit()\n${GET_BRANDS}`,
    },
    promises('A run without', 'Rows of'),
  ],
  'deletes what the plan does not reach, and retries at once': [
    {
      [GET_DAYS]: 'days, pagination, meta = get("days", "data", "pagination", "meta", cursor=cursor)',
      [OPEN]: `    db.execute("DELETE FROM day_rows WHERE date < ?", [meta["fromDate"]])\n${OPEN}`,
      'time.sleep(wait)': 'pass',
    },
    [...promises('A plan that shrinks'), RETRY],
  ],
}

/** Writes the rows that count to `<table>.jsonl` when the program ends. */
const WRITE = `import atexit, sqlite3

@atexit.register
def write():
    db = sqlite3.connect("export.db")
    for [endpoint] in db.execute("SELECT DISTINCT endpoint FROM day_rows").fetchall():
        rows = db.execute("SELECT brand_id, row FROM metric_rows WHERE endpoint = ?", [endpoint])
        with open(endpoint.replace("-", "_") + ".jsonl", "w") as file:
            file.writelines(f'{{"brand_id": "{brand_id}", {row[1:]}\\n' for brand_id, row in rows)

`

test('finds the promises that a mistake breaks or makes untestable, and no others', async () => {
  const [program = ''] = (await readCodeBlocks('sync.md'))('Python', 'python')
  const loaders = Object.entries(LOADERS).map(async ([name, [mistakes]]) => {
    const own = join(folder, name)
    await mkdir(own)
    const source = Object.entries(mistakes).reduce((source, [part, mistake]) => {
      if (!source.includes(part)) throw new Error(`The program of docs/sync.md lacks ${part}`)
      return source.replace(part, () => mistake)
    }, program)
    await writeFile(join(own, 'sync.py'), WRITE + source)
    return { command: 'python3 sync.py', copy: 'jsonl:.', folder: own }
  })
  const verdicts = await certifyAll(await Promise.all(loaders))
  const found = Object.keys(LOADERS).map((name, index) => {
    const judged = (wanted: boolean | null) =>
      (verdicts[index] ?? []).flatMap(({ promise, kept }) => (kept === wanted ? [promise] : []))
    return [name, judged(false), judged(null)]
  })
  expect(found).toEqual(
    Object.entries(LOADERS).map(([name, [, broken, untestable = []]]) => [name, broken, untestable]),
  )
  expect(verdicts.map((judged) => judged.length)).toEqual(verdicts.map(() => ALL.length))
})

/** What loaders and databases do to texts: the first three to names of brands, too. */
const FORMS: readonly ((text: string) => string)[] = [
  (text) => text.toLowerCase(),
  (text) => text.trimStart(),
  (text) => text.normalize('NFC'),
  (text) => text.normalize('NFKC'),
  (text) => text.trimEnd(),
  (text) => text.replaceAll(/ +/g, ' '),
  (text) => text.replaceAll(/[\u200b\ufeff]/g, ''),
  (text) => text.replaceAll(/[\u{10000}-\u{10ffff}]/gu, ''),
  (text) => text.replaceAll('&amp;', '&'),
  (text) => text.replace(/\?.*/, ''),
  (text) => text.slice(0, 1024),
]
/** Only domains and URLs are longer than 2000 bytes. */
const cutLate: (typeof FORMS)[number] = (text) => text.slice(0, 4000)
const cutBytes = (text: string) => Buffer.from(text).subarray(0, 8_000).toString()

/** How loaders guess the types of texts. */
const GUESSES: readonly ((text: string) => unknown)[] = [
  (text) => (text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text)),
  (text) => (/^[\d-]+-[\d-]+$/.test(text) ? new Date(text) : text),
  (text) => (/^(true|false)$/i.test(text) ? text.toLowerCase() === 'true' : text),
  (text) => (text === '' ? null : text),
  (text) => (/^(null|None|N\/A|NaN)$/i.test(text) ? null : text),
]

test('finds texts that a loader alters, and rows that it merges because their texts are alike', {
  timeout: 300_000,
}, async () => {
  const service = await startService()
  onTestFinished(service.close)
  const { tables } = await service.read()
  /** Stores a table with altered texts, one row of each key. Returns the number of differences. */
  const differences = (
    table: string,
    column: string,
    [form, isStored]: readonly [(typeof GUESSES)[number], boolean],
  ) => {
    const [stream] = readStreams().filter(({ name }) => name === table)
    if (stream === undefined) throw new Error(`There is no table ${table}.`)
    const rows = new Map(
      (tables.get(table) ?? []).map((row) => {
        const text = row[column]
        const altered = { ...row, [column]: typeof text === 'string' ? form(text) : text }
        return [JSON.stringify(stream.key.map((name) => altered[name])), isStored ? altered : row]
      }),
    )
    const columns = new Map(
      stream.columns.map(({ name, field }) => [plain(name), { name: field, type: undefined }]),
    )
    const copy = new Map([[table, { rows: [...rows.values()], columns }]])
    return compare([stream], textsOf([stream], tables), copy).length
  }
  const alters = [...FORMS, ...GUESSES].map((form) => [form, true] as const)
  const merges = FORMS.map((form) => [form, false] as const)
  const unnoticed = Object.entries({
    'brands displayName': alters.slice(0, 3),
    'visibility model_id': merges,
    'competitors competitor_name': [...alters, ...merges],
    'recommended_rate entity_name': [...alters, ...merges],
    'citations url': [...merges, [cutLate, false] as const, [cutBytes, false] as const],
    'citations domain': [...alters, [cutLate, true] as const],
    'citation_share url': [...merges, [cutLate, false] as const, [cutBytes, false] as const],
    'citation_share domain': [...alters, [cutLate, true] as const],
  }).flatMap(([place, faults]) => {
    const [table = '', column = ''] = place.split(' ')
    return faults
      .filter((fault) => differences(table, column, fault) === 0)
      .map(([form, isStored]) => `${place} ${isStored ? 'stored' : 'merged'} ${form}`)
  })
  expect(unnoticed).toEqual([])
})

test('names the place of a copy that it cannot read', async () => {
  await expect(certify({ command: 'true', copy: 'mysql://host/database' })).rejects.toThrow(/^--copy must be/)
})

test('shows the end of a first run that fails, without the key', async () => {
  const failing = certify({ command: 'echo "401: $EXPORT_API_KEY"; exit 3', copy: 'jsonl:copy' })
  await expect(failing).rejects.toThrow(/exit code 3\. Fix the command\.\n401: <API key>$/)
})

test('ends what a command leaves running', async () => {
  const variables = {
    EXPORT_API_URL: 'http://url',
    EXPORT_API_KEY: 'key',
    EXPORT_API_START_DATE: '2026-01-01',
  }
  const command = 'echo "$EXPORT_API_KEY" >&2; pwd; sleep 1000 & exit 3'
  const { code, output } = await runLoader(command, variables, folder)
  expect({ code, output }).toEqual({ code: 3, output: `${folder}\nkey\n` })
})

const BRAND = '7f9c24e8-3b1a-4d5e-8f60-1a2b3c4d5e6f'
const EXPECTED = new Map([
  [
    'sentiment',
    [
      {
        brand_id: BRAND,
        date: '2026-11-03',
        positive_mentions: 3,
        neutral_mentions: 0,
        negative_mentions: 1,
        positive_weight: 12.5,
        negative_weight: 0.0001,
        sentiment_score: null,
      },
    ],
  ],
])

// A row that is there twice, numbers and dates in texts, and a number that differs.
const COPIED = `
  create schema loaded;
  create table loaded.sentiment (
    brand_id text, date text, positive_mentions bigint, neutral_mentions numeric(38, 0), negative_mentions integer,
    positive_weight decimal(18, 4), negative_weight text, sentiment_score double precision
  );
  insert into loaded.sentiment values
    ('${BRAND}', '2026-11-03', 3, 0, 1, 12.5, '0.00010', null),
    ('${BRAND}', '2026-11-03', 3, 0, 1, 12.5, '0.0001', null),
    ('${BRAND}', '2026-11-03', 3, 0, 1, 12.5001, '0.0001', null);`

// singer.test.ts reads a copy in PostgreSQL.
test('reads DuckDB by value, and names columns of other types', {
  // Installs DuckDB once.
  timeout: 300_000,
}, async () => {
  const program = join(await environment('duckdb'), 'duckdb')
  await promisify(execFile)(program, [join(folder, 'copy.duckdb'), COPIED])
  const read = copyReader({ copy: 'duckdb:copy.duckdb', schema: 'loaded', folder })
  // Without the columns that a stream has received since.
  const streams = readStreams().flatMap((stream) => {
    const [row] = EXPECTED.get(stream.name) ?? []
    return row ? { ...stream, columns: stream.columns.filter(({ name }) => name in row) } : []
  })
  const copy = await read([...EXPECTED.keys(), 'visibility'])
  expect([...copy.keys()]).toEqual(['sentiment'])
  const lines = compare(streams, textsOf(streams, EXPECTED), copy).map(
    ({ table, line }) => `${table} ${line}`,
  )
  expect(lines).toEqual([
    expect.stringMatching(/^sentiment too many .*"positive_weight":12.5,/),
    expect.stringMatching(/^sentiment too many .*"positive_weight":12.5001,/),
  ])
  expect(unexpectedTypes(streams, copy).map((line) => line.split(' ')[0])).toEqual([
    'sentiment.date',
    'sentiment.negative_weight',
  ])
})

test('finds tables and columns that are missing', async () => {
  await writeFile(join(folder, 'sentiment.jsonl'), '{"brand_id":"1","date":"2026-11-03"}\n')
  const copy = await copyReader({ copy: 'jsonl:.', folder })(['sentiment', 'visibility'])
  const streams = readStreams().filter(({ name }) => ['sentiment', 'visibility'].includes(name))
  const lines = compare(streams, textsOf(streams, EXPECTED), copy).map(
    ({ table, line }) => `${table}: ${line}`,
  )
  expect(lines).toContain('visibility: The table is missing.')
  expect(lines).toContain('sentiment: The column positive_weight is missing.')
})
