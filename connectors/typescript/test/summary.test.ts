import { expect, test } from 'vitest'
import { addCauses, type ChangedDays } from '../cli/causes.ts'
import { describeSystemError } from '../cli/errors.ts'
import { selectBrands } from '../cli/scope.ts'
import { describeEqual, describeReading, describeSync } from '../cli/summary.ts'
import type { Brand } from '../src/index.ts'

// What a person reads.

const size = { files: 24, bytes: 3_140_000, rows: 102_741 }
const synced = {
  changed: 2,
  causes: new Map(),
  isWhole: true,
  asOf: '2026-11-02T10:31:44.123456Z',
  size,
  table: 'visibility',
}
const run = {
  location: 'copy',
  requests: 113,
  seconds: 37.2,
  advice: ['Open copy/report.html in a browser.'],
}

test('the end of a sync says what it did, what the copy has, that it is equal, and what to open', () => {
  expect(describeSync(synced, run)).toEqual([
    'Brought 2 brands up to date in 113 requests, 38 s.',
    'copy/ has 102,741 rows in 24 files, 3.1 MB.',
    'It equals the service as of 2026-11-02 10:31 UTC.',
    'Open copy/report.html in a browser.',
  ])
})

test('says why days changed since the last sync, the most frequent cause first', () => {
  const causes: ChangedDays = new Map()
  const since = '2026-11-01T00:00:00.000001Z'
  const later = '2026-11-01T00:00:00.000002Z'
  const day = { brandId: 'a', endpoint: 'citations', rows: 1, totals: {}, digest: '', changedAt: later }
  for (const date of ['2026-10-01', '2026-10-02', '2026-10-02'])
    addCauses(causes, { ...day, date, causes: { citations: later, answers: since } }, since)
  addCauses(causes, { ...day, date: '2026-10-02', causes: { prompts: later } }, since)
  addCauses(causes, { ...day, date: '2026-10-03', causes: { 'a new kind': later } }, since)
  expect(describeSync({ ...synced, causes }, run)[0]).toBe(
    '3 days changed: 2 by late or edited citations, 1 because a prompt was retired or edited, 1 by a new kind.',
  )
})

test('says that nothing changed, and leaves out what was not compared or is not known', () => {
  expect(describeSync({ ...synced, changed: 0 }, { ...run, requests: 2, advice: [] })).toEqual([
    'Nothing changed. copy/ has 102,741 rows in 24 files, 3.1 MB.',
    'It equals the service as of 2026-11-02 10:31 UTC.',
  ])
  const part = {
    ...synced,
    changed: 1,
    isWhole: false,
    asOf: null,
    size: { files: 1, bytes: 900, rows: 1 },
  }
  const long = { location: 's3://bucket/export/', requests: 1, seconds: 600, advice: [] }
  expect(describeSync(part, long)).toEqual([
    'Brought 1 brand up to date in 1 request, 10 minutes.',
    's3://bucket/export/ has 1 row in 1 file, 0.9 kB.',
    'What it covers equals the service.',
  ])
})

test('says how engines read a table, in lines of a terminal', () => {
  const lines = describeReading('copy/recommended_rate')
  expect(lines).toHaveLength(2)
  for (const line of lines) expect(line).toMatch(/^(?=.{0,80}$).*'copy\/recommended_rate'/)
})

test('verify says what it compared', () => {
  expect(describeEqual({ files: 24, rows: 102_741, days: 1096 }, { full: true })).toEqual([
    'Equal: 102,741 rows in 24 files.',
    'The rows, sums and digests of 1,096 listed days are those of the service.',
  ])
  expect(describeEqual({ files: 24, rows: 0, days: 1096 }, { full: false })).toEqual([
    'Equal: 24 files, as sync wrote them.',
    'The log has the rows and digests of all 1,096 listed days. --full reads the files.',
  ])
})

const OTHER_FOLDER = 'Use a folder that this user can write to.'

test.for([
  [{ code: 'ENOSPC' }, 'The disk is full: copy cannot be written. Free space, then run this again.'],
  [{ code: 'EROFS', path: '/x/copy' }, `/x/copy cannot be read or written (EROFS). ${OTHER_FOLDER}`],
  [{ code: 'EACCES', path: 'x' }, `x cannot be read or written (EACCES). ${OTHER_FOLDER}`],
  [
    { code: 'EPERM', path: 'copy/a/_delta_log/.1' },
    `copy cannot be read or written (EPERM). ${OTHER_FOLDER}`,
  ],
  [{ code: 'ENOTDIR', path: 'file/copy' }, 'file/copy is a file, or in one. Use a folder.'],
  [{ code: 'EIO' }, 'EIO: text of Node'],
] as const)('an error of the file system says what to do: %j', ([fields, message]) => {
  const error = Object.assign(new Error(`${fields.code}: text of Node`), { syscall: 'write', ...fields })
  expect(describeSystemError(error, 'copy')).toBe(message)
})

const REST = { url: '', siteUrl: '', industry: null, createdAt: '' }
const brandOf = (id: string, name: string, displayName = name): Brand => ({ id, name, displayName, ...REST })
const BRANDS = [brandOf('a1', 'Haldenpeak', 'Halden Peak'), brandOf('b2', 'Acme'), brandOf('c3', 'ACME')]

test('selects brands by ids and names', () => {
  const select = (...wanted: string[]) => selectBrands(BRANDS, wanted).map(({ id }) => id)
  expect(select()).toEqual([])
  expect(select('B2', 'a1')).toEqual(['a1', 'b2'])
  expect(select('haldenPEAK')).toEqual(['a1'])
  expect(select('halden peak', 'a1')).toEqual(['a1'])
})

test('a brand that is not one of the key lists those that are', () => {
  expect(() => selectBrands(BRANDS, ['Halden'])).toThrow(
    'No brand has the id or name Halden. Choose from Haldenpeak (a1), Acme (b2), ACME (c3).',
  )
  expect(() => selectBrands(BRANDS, ['acme'])).toThrow(
    '2 brands have the name acme. Use an id: Acme (b2), ACME (c3).',
  )
  expect(() => selectBrands([], ['acme'])).toThrow('No brand has the id or name acme. Choose from none.')
  const many = Array.from({ length: 1022 }, (_, index) => brandOf(`id${index}`, `Brand ${index}`))
  expect(() => selectBrands(many, ['x'])).toThrow(
    /Choose from Brand 0 \(id0\), .*Brand 19 \(id19\) and 1,002 more\.$/,
  )
})
