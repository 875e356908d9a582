import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { openCopy } from '../cli/copy.ts'
import { formatEntry, versionName } from '../cli/delta/log.ts'
import { readTable } from '../cli/delta/read-table.ts'
import {
  commit,
  openTable,
  removal,
  removeExpired,
  removeLeft,
  removeLoose,
  type Table,
} from '../cli/delta/table.ts'
import { CommandError, MovedError } from '../cli/errors.ts'
import { writeFiles } from '../cli/files.ts'
import { folderStore } from '../cli/folder-store.ts'
import type { Store } from '../cli/store.ts'
import { toArray } from './fake-api.ts'
import { memoryBucket } from './memory-bucket.ts'

const root = await mkdtemp(join(tmpdir(), 'delta-table-'))
afterAll(() => rm(root, { recursive: true }))
afterEach(() => void vi.useRealTimers())

const COLUMNS = [
  { name: 'brand_id', type: 'string' },
  { name: 'date', type: 'date' },
] as const
const LOG = 'numbers/_delta_log'

const open = (store: Store, columns: Table['columns'] = COLUMNS) =>
  openTable(store, { name: 'numbers', columns })

/** Commits a day in place of all others. */
async function write(table: Table, date: string, expiry = 0): Promise<void> {
  const old = [...table.snapshot.files.values()]
  const rows = [{ brand_id: 'b', date }]
  const added = await writeFiles(table, [{ days: { b: { [date]: '1 ' } }, rows: () => rows }])
  await commit(table, 'WRITE', { actions: [...added, ...old.map(removal)], expiry })
}

const namesOf = async (store: Store, folder: string) => [...(await store.list(folder)).keys()].sort()
const entries = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => `${versionName(first + index)}.json`)
const checkpoint = (version: number) => `${versionName(version)}.checkpoint.parquet`

test('has checkpoints, no log before an expired one, and no file that was removed long ago', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const store = memoryBucket().open()
  const table = await open(store)
  /** Version 1 is committed at 1 ms, and kept for 150 ms. */
  const writeUntil = async (version: number) => {
    while (table.snapshot.version < version) {
      const next = table.snapshot.version + 1
      vi.setSystemTime(next)
      await write(table, '2026-10-01', next - 150)
    }
  }
  await writeUntil(250)
  const own = [checkpoint(100), checkpoint(200), '_last_checkpoint']
  expect(await namesOf(store, LOG)).toEqual([...entries(0, 250), ...own].sort())
  expect(JSON.parse(String(await store.read(`${LOG}/_last_checkpoint`)))).toEqual({ version: 200, size: 154 })
  const opened = await open(store)
  // A checkpoint has no removals that had expired.
  const removed = new Map([...table.snapshot.removed].filter(([, time]) => time >= 50))
  expect(opened.snapshot).toEqual({ ...table.snapshot, removed })

  await store.replace('numbers/notes.parquet', 'of another program')
  await removeExpired(opened, 200)
  const left = [...removed].filter(([, time]) => time >= 200).map(([path]) => path)
  const files = [...table.snapshot.removed].filter(([, time]) => time < 50).map(([path]) => path)
  expect(await namesOf(store, 'numbers')).toEqual(
    [...left, ...files, ...table.snapshot.files.keys(), 'notes.parquet'].sort(),
  )

  await writeUntil(300)
  expect(await namesOf(store, LOG)).toEqual([...entries(100, 300), ...own, checkpoint(300)].sort())
  const { files: current } = (await open(store)).snapshot
  expect([...current.keys()]).toEqual([...table.snapshot.files.keys()])
})

test('of two commits of a version in a folder, one fails', async () => {
  const store = folderStore(join(root, 'moved'))
  const [first, second] = [await open(store), await open(store)]
  await write(first, '2026-10-01')
  await expect(write(second, '2026-10-02')).rejects.toThrow(MovedError)
  expect(second.snapshot.version).toBe(-1)
  expect((await open(store)).snapshot).toEqual(first.snapshot)
})

test('old rows have null in a new column', async () => {
  const store = memoryBucket().open()
  await write(await open(store), '2026-10-01')
  const columns = [...COLUMNS, { name: 'late', type: 'long' }] as const
  const table = await open(store, columns)
  await commit(table, 'RESTORE', { actions: [], expiry: 0 })
  expect(await toArray(readTable(await open(store, columns)))).toEqual([
    { brand_id: 'b', date: '2026-10-01', late: null },
  ])
  await expect(open(store)).rejects.toThrow('numbers: This version does not know the column late. Install')
})

const add = (path: string) =>
  formatEntry([{ add: { path, size: 1, modificationTime: 0, dataChange: true, partitionValues: {} } }])

const LATER = '{"protocol":{"minReaderVersion":3,"minWriterVersion":7}}'
const OUTSIDE = /names the file .*, which would be outside/

/** What the log has of a version, or in another file. */
test.for<[string, number | string, string | undefined, RegExp]>([
  ['a first entry that is missing', 0, undefined, /0\.json is damaged or missing\. Restore/],
  ['a gap', 1, undefined, /1\.json is damaged or missing\. Restore/],
  ['a torn entry', 2, '{"add":{"path', /2\.json is damaged or missing/],
  ['a path that has no end', 2, add('%'), /2\.json is damaged or missing/],
  ['a checkpoint that is missing', '_last_checkpoint', '{"version":1}', /1\.checkpoint\.parquet is damaged/],
  ['a torn checkpoint', checkpoint(1), 'PAR1', /1\.checkpoint\.parquet is damaged/],
  ['a torn hint', '_last_checkpoint', '{', /_last_checkpoint is damaged/],
  ['a hint of no version', '_last_checkpoint', '{}', /checkpoint\.parquet is damaged/],
  ['a later version of Delta', 3, LATER, /Another program has changed the table/],
  ['an encoded path', 3, add('%2e%2e/x.parquet'), OUTSIDE],
  ['an absolute path', 3, add('/x.parquet'), OUTSIDE],
  ['a path that leaves it later', 3, add('a/../../x.parquet'), OUTSIDE],
])('does not open a log with %s', async ([name, version, content, message]) => {
  const location = join(root, name)
  const store = folderStore(location)
  const table = await open(store)
  for (const date of ['2026-10-01', '2026-10-02', '2026-10-03']) await write(table, date)
  const file = `${LOG}/${typeof version === 'number' ? `${versionName(version)}.json` : version}`
  if (content === undefined) await store.remove([file])
  else await store.replace(file, content)
  if (file.endsWith('.parquet')) await store.replace(`${LOG}/_last_checkpoint`, '{"version":1}')
  const error: unknown = await open(store).catch((error) => error)
  expect(error).toBeInstanceOf(CommandError)
  expect(String(error)).toMatch(message)
  expect(String(error)).toContain(`${location}/numbers: `)
})

test('deletes nothing outside', async () => {
  const store = folderStore(join(root, 'outside'))
  await write(await open(store), '2026-10-01')
  await writeFile(join(root, 'outside', 'x.parquet'), '')
  const remove = { path: '../x.parquet', deletionTimestamp: 0, dataChange: true }
  await store.createIfAbsent(`${LOG}/${versionName(1)}.json`, formatEntry([{ remove }]))
  await removeExpired(await open(store), Number.POSITIVE_INFINITY)
  expect((await stat(join(root, 'outside', 'x.parquet'))).size).toBe(0)
})

/** What is in a folder, and which names an error lists. */
test.for<[readonly string[], string | undefined]>([
  [[], undefined],
  [['.DS_Store', 'lost+found', 'report.html'], undefined],
  // A first sync that was killed.
  [['visibility', 'brands'], undefined],
  [['notes.md', 'visibility'], 'notes.md'],
  [['a', 'b', 'c', 'd', 'e'], 'a/, b/, c/ and 2 more'],
])('begins no copy in a folder of others: %j', async ([names, found]) => {
  const folder = join(root, `others ${names.join(' ')}`)
  await mkdir(folder)
  for (const name of names)
    await (name.includes('.') ? writeFile(join(folder, name), '') : mkdir(join(folder, name)))
  const error = await openCopy(folderStore(folder)).catch(({ message }) => message)
  if (found === undefined) expect(error).toHaveProperty('brands')
  else
    expect(error).toBe(
      `${folder} has no copy, but other files: ${found}. Use a new one, such as ${folder}/copy.`,
    )
})

const HOUR_MS = 3_600_000

test('deletes files that a killed sync has left an hour before, and no others', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 0 })
  const store = memoryBucket().open()
  const table = await open(store)
  await write(table, '2026-10-01')
  const running = await open(store)
  const left = (number: number) => `export-api-00000000-0000-4000-8000-00000000000${number}.parquet`
  await store.replace(`numbers/${left(1)}`, '')
  await store.replace(`numbers/.${left(1)}`, '')
  for (const other of ['part-00000-1.parquet', 'x.parquet', `x-${left(1)}`])
    await store.replace(`numbers/${other}`, '')
  vi.setSystemTime(2 * HOUR_MS)
  await store.replace(`numbers/${left(2)}`, '')
  const before = await namesOf(store, 'numbers')
  await removeLeft(await open(store), { now: await store.now('numbers'), expiry: 0 })
  const after = await namesOf(store, 'numbers')
  expect(before.filter((name) => !after.includes(name))).toEqual([`.${left(1)}`, left(1)])
  // A sync that has slept cannot commit what may be deleted.
  await expect(write(running, '2026-10-02')).rejects.toThrow(MovedError)
})

test('files that no version has can go again, and those of a version stay', async () => {
  const store = memoryBucket().open()
  const [table, other] = [await open(store), await open(store)]
  await write(table, '2026-10-01')
  await expect(write(other, '2026-10-02')).rejects.toThrow(MovedError)
  const source = { days: { b: { '2026-10-03': '1 ' } }, rows: () => [{ brand_id: 'b', date: '2026-10-03' }] }
  await writeFiles(table, [source])
  expect(await namesOf(store, 'numbers')).toHaveLength(3)
  for (const each of [table, other]) await removeLoose(each)
  expect(await namesOf(store, 'numbers')).toEqual([...table.snapshot.files.keys()])
})

test.each<[string, () => Promise<boolean>, string]>([
  ['has no response', () => Promise.reject(new Error('No response.')), 'No response.'],
  // S3 answers 409 to the second attempt while the first one is on its way.
  ['is refused without an entry', async () => false, 'Other syncs write'],
])('files stay when a commit %s: a version can have them', async (_, createIfAbsent, message) => {
  const table = await open({ ...memoryBucket().open(), createIfAbsent })
  await expect(write(table, '2026-10-01')).rejects.toThrow(message)
  await removeLoose(table)
  expect(await namesOf(table.store, 'numbers')).toHaveLength(1)
})

const pipe = (path: string) => execFileSync('mkfifo', [path])

/** What is in the place of a file or folder of a copy. */
test.each<[string, string, (path: string, elsewhere: string) => unknown, RegExp]>([
  ['a pipe as an entry', `${LOG}/${versionName(1)}.json`, pipe, /1\.json is no file, /],
  [
    'a link as a hint',
    `${LOG}/_last_checkpoint`,
    (path, elsewhere) => symlink(`${elsewhere}/x`, path),
    /_last_checkpoint is no file, /,
  ],
  ['a pipe as its log', LOG, pipe, /_delta_log is no folder, /],
  [
    'a link as its folder',
    'numbers',
    (path, elsewhere) => symlink(elsewhere, path),
    /numbers is no folder, /,
  ],
])('%s is an error at once, and nothing is written elsewhere', async (name, file, put, message) => {
  const [copy, elsewhere] = [join(root, name), join(root, `${name} elsewhere`)]
  const store = folderStore(copy)
  await write(await open(store), '2026-10-01')
  await mkdir(elsewhere)
  await writeFile(join(elsewhere, 'x'), '')
  await rm(join(copy, file), { recursive: true, force: true })
  await put(join(copy, file), elsewhere)
  await expect(open(store)).rejects.toThrow(message)
  expect(await readdir(elsewhere)).toEqual(['x'])
})

test('a version whose entry cannot be read is no other sync', async () => {
  const copy = join(root, 'folder as an entry')
  const table = await open(folderStore(copy))
  await write(table, '2026-10-01')
  await mkdir(join(copy, LOG, `${versionName(1)}.json`))
  await expect(write(table, '2026-10-02')).rejects.toThrow(/1\.json is no file, /)
})

test('a folder that cannot be made is an error at once', async () => {
  await expect(folderStore('/proc/x').replace('y/z', '')).rejects.toThrow(/ENOENT.*\/proc\/x/)
})
