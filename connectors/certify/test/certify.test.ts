import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { readStreams } from '../../../site/reference/streams.ts'
import { certify, certifyAll } from '../certify.ts'
import { runLoader } from '../command.ts'
import { compare, plain, textsOf, unexpectedTypes } from '../compare.ts'
import { copyReader } from '../copies.ts'
import { life } from '../life.ts'
import { environment } from '../python-environment.ts'
import { startService } from '../service.ts'
import { type Mistake, referenceLoader } from './reference-loader.ts'

const folder = await mkdtemp(join(tmpdir(), 'certify-test-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const FIRST = 'The first run loads every row of every page.'
const UNCHANGED = 'A run without changes sends at most 6 requests and leaves the copy as it is.'
const WHOLE = 'Days are replaced whole: late rows arrive, and rows that vanish go.'
const RENAME = 'A rename arrives on all days.'
const EMPTY = 'A day that has emptied is empty.'
const BUDGET = 'Responses with 429 do not end a run.'
const OUTAGE = 'Responses with 503, and connections that break, do not end a run.'
const STOPPED = 'A run that a 404 stops ends with an exit code other than 0.'
const RESUMED = 'The run after that loads what it did not.'
const SHRUNK = 'A plan that shrinks leaves the days that it does not reach as they are.'
const GROWN = 'A plan that reaches further back again completes the copy.'
const MOVED =
  'A plan that shrinks between two pages of a fetch leaves the days that it does not reach as they are.'
const GROWN_LATER = 'A plan that reaches further back after that completes the copy.'
const INACTIVE = 'A brand that is inactive while changes are listed is complete when it is active again.'
const LIMITED = 'A key that loses a brand before changes are listed keeps the others complete.'
const RETURNED = 'A brand that comes back after that is complete.'
const ALTERED = 'Rows that arrive altered are noticed: they are requested again, or the run ends.'
const REPLACED = 'The run after that replaces what arrived altered.'
const REVOKED =
  "A revoked key ends the run: exit code other than 0, the service's message, the copy as it was."
const SUCCESS = 'Every run that can succeed ends with exit code 0.'
const RETRY = 'No request is sent again before Retry-After allows it.'
const AGENT = 'The User-Agent is its own, and the same for all requests.'
const TYPES = 'Columns have the types of the fields.'
const OF_RUNS = life('2026-11-24').map(({ promise }) => promise)

/** Mistakes of loaders, the promises that they break, and those that this makes untestable. */
const LOADERS: readonly (readonly [readonly Mistake[], readonly string[], readonly string[]])[] = [
  [[], [], []],
  [['loads nothing'], OF_RUNS, [RETRY, AGENT, TYPES]],
  [['does not retry'], [BUDGET, OUTAGE, SUCCESS], [STOPPED, RETRY]],
  // The plan that reaches further back makes the loader start again.
  [
    ['loads the first page only', 'compares no digest'],
    [FIRST, RENAME, GROWN, MOVED, GROWN_LATER, RETURNED, ALTERED],
    [REPLACED],
  ],
  [['loads everything each time', 'never deletes'], [UNCHANGED, WHOLE, RENAME, EMPTY, REPLACED], []],
  [
    ['loads once'],
    [
      ...[WHOLE, RENAME, EMPTY, BUDGET, OUTAGE, STOPPED, RESUMED, SHRUNK, GROWN, MOVED, GROWN_LATER],
      ...[INACTIVE, LIMITED, RETURNED, ALTERED],
    ],
    [REPLACED],
  ],
  [
    ['stores since first', 'has no User-Agent of its own'],
    [RESUMED, MOVED, GROWN_LATER, ALTERED, AGENT],
    [REPLACED],
  ],
  [['deletes what the plan does not reach', 'retries at once'], [SHRUNK, MOVED, RETRY], []],
  [
    ['ignores a plan that reaches further back', 'hides errors'],
    [STOPPED, GROWN, GROWN_LATER, ALTERED, REVOKED],
    [REPLACED],
  ],
  [['ignores a window that moves', 'compares no digest'], [MOVED, GROWN_LATER, ALTERED], [REPLACED]],
  [['compares no digest of brands'], [INACTIVE, RETURNED], []],
  [['lists no brand alone'], [RETURNED], []],
]

test('finds the promises that a mistake breaks or makes untestable, and no others', {
  timeout: 300_000,
}, async () => {
  const loaders = LOADERS.map(([mistakes], index) => {
    const path = join(folder, String(index))
    return { command: referenceLoader(path, mistakes), copy: `jsonl:${path}` }
  })
  const found = (await certifyAll(loaders)).map((verdicts, index) => [
    LOADERS[index]?.[0],
    ...[false, null].map((wanted) =>
      verdicts.flatMap(({ promise, kept }) => (kept === wanted ? [promise] : [])),
    ),
  ])
  expect(found).toEqual(LOADERS)
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
  timeout: 60_000,
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

test('the program of docs/sync.md keeps every promise', { timeout: 300_000 }, async () => {
  const page = await readFile(new URL('../../../docs/sync.md', import.meta.url), 'utf8')
  const [, program = ''] = /```python\n([\s\S]*?)```/.exec(page) ?? []
  const own = join(folder, 'docs')
  await mkdir(own)
  await writeFile(join(own, 'sync.py'), program)
  const verdicts = await certify({
    command: async (environment) => {
      const ended = await runLoader('python3 sync.py', environment, own)
      const store = new DatabaseSync(join(own, 'export.db'))
      const rowsOf = store.prepare('SELECT brand_id, row FROM metric_rows WHERE endpoint = ?')
      for (const { name, endpoint } of readStreams().filter(({ kind }) => kind === 'metric')) {
        const lines = rowsOf
          .all(endpoint)
          .map(({ brand_id, row }) => JSON.stringify({ brand_id, ...JSON.parse(String(row)) }))
        await writeFile(join(own, `${name}.jsonl`), lines.join('\n'))
      }
      store.close()
      return ended
    },
    copy: 'jsonl:.',
    folder: own,
  })
  expect(verdicts.filter(({ kept }) => !kept)).toEqual([])
  expect(verdicts.length).toBeGreaterThan(10)
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
  [
    'changes',
    [
      {
        brand_id: BRAND,
        endpoint: "a 'quoted'\nline ü",
        date: '2026-11-03',
        rows: 1,
        totals: { citations: 3, weight: 0.5 },
        digest: '0123456789abcde',
        causes: { citations: '2026-11-22T04:31:07.120000Z' },
        changed_at: '2026-11-22T04:31:07.120000Z',
      },
    ],
  ],
])

// A row that is there twice, one that is deleted, numbers and dates in texts, and a number that differs.
const COPIED = `
  create schema loaded;
  create table loaded.sentiment (
    brand_id text, date text, positive_mentions bigint, neutral_mentions numeric(38, 0), negative_mentions integer,
    positive_weight decimal(18, 4), negative_weight text, sentiment_score double precision, _sdc_deleted_at timestamp
  );
  insert into loaded.sentiment values
    ('${BRAND}', '2026-11-03', 3, 0, 1, 12.5, '0.00010', null, null),
    ('${BRAND}', '2026-11-03', 3, 0, 1, 12.5, '0.0001', null, null),
    ('${BRAND}', '2026-11-03', 3, 0, 1, 12.5001, '0.0001', null, null),
    ('${BRAND}', '2026-11-04', 3, 0, 1, 12.5, '0.0001', null, '2026-11-05 00:00:00');
  create table loaded.changes (
    brand_id uuid, endpoint text, date date, rows bigint, totals json, digest text,
    causes json, changed_at timestamp with time zone
  );
  insert into loaded.changes values
    ('${BRAND}', 'a ''quoted''' || chr(10) || 'line ü', '2026-11-03', 1,
     '{"weight": 0.5000, "citations": 3}', '0123456789abcde', '{"citations": "2026-11-22T04:31:07.120000Z"}',
     '2026-11-22 05:31:07.12+01');`

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
  expect([...copy.keys()].sort()).toEqual(['changes', 'sentiment'])
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
