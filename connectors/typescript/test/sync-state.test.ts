import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { UsageError } from '../cli/errors.ts'
import { folderStore } from '../cli/folder-store.ts'
import { readBase } from '../cli/manifest.ts'
import { openCopy, readState, writeState } from '../cli/state.ts'

const root = await mkdtemp(join(tmpdir(), 'sync-state-'))
afterAll(() => rm(root, { recursive: true }))

const FILE = 'visibility/2026-10'

/** What happens to a file after its state was written, and whether it is still the file that sync wrote. */
test.for<[string, (path: string) => Promise<void>, boolean]>([
  ['stays', async () => {}, true],
  ['is copied, with another time', (path) => utimes(path, 1, 1), true],
  ['is replaced before a kill', (path) => writeFile(path, 'new and longer'), false],
  ['gets other content of the same size', (path) => writeFile(path, 'dlo'), false],
  ['is emptied', (path) => writeFile(path, ''), false],
  ['is deleted', (path) => rm(path), false],
])('fetches all days again unless the file is the one that sync wrote: it %s', async ([
  name,
  happen,
  isSame,
]) => {
  const store = folderStore(join(root, name))
  const opened = await openCopy(await readBase(store), 'b')
  const file = await store.create('endpoint=visibility/brand=b/2026-10-0.parquet', async (writer) => {
    writer.appendBytes(Buffer.from('old'))
    await writer.finish()
    return 1
  })
  if (file === undefined) throw new Error('no file')
  const path = join(root, name, file.path)
  opened.state.token = '1'
  opened.state.files[FILE] = { ...file, from: '2026-10-01', through: '1', schema: '' }
  await writeState(opened)
  await happen(path)
  const copy = await openCopy(await readBase(store), 'b')
  expect(copy.state.token).toBe(isSame ? '1' : null)
  expect(Object.keys(copy.state.files)).toEqual(isSame ? [FILE] : [])
})

test('removes the folders that have no files any more', async () => {
  const store = folderStore(join(root, 'emptied'))
  for (const path of ['_state/1/1/b.json', '_state/2/1/b.json']) await store.writeText(path, '')
  await store.remove(['_state/1/1/b.json'])
  expect(await readdir(join(root, 'emptied', '_state'))).toEqual(['2'])
})

test('finds a manifest that is written while a copy is read', async () => {
  const store = folderStore(join(root, 'begun'))
  const list = async () => {
    const manifest = { id: '1', files: {}, brands: { path: '' }, states: {}, unfinished: {}, replaced: [] }
    await store.writeText('manifest.json', JSON.stringify(manifest))
    await store.writeText('endpoint=visibility/brand=b/2026-10-0123456789ab.parquet', '')
    return store.list()
  }
  expect(await readBase({ ...store, list })).toMatchObject({ manifest: { id: '1' } })
})

test('names a state that is damaged', async () => {
  await mkdir(join(root, '_state'))
  await writeFile(join(root, '_state', 'b.json'), '{')
  await expect(readState(folderStore(root), '_state/b.json')).rejects.toThrow(
    /_state\/b\.json is damaged\. Delete it/,
  )
})

test.each([
  '{',
  '{}',
  'null',
  '{"id":"1","brands":null}',
])('names a manifest that is damaged: %s', async (text) => {
  const store = folderStore(join(root, 'damaged'))
  await store.writeText('endpoint=visibility/brand=b/2026-10-0123456789ab.parquet', '')
  await store.writeText('manifest.json', text)
  await expect(readBase(store)).rejects.toThrow(
    /\/manifest\.json is damaged\. Restore it\. Or delete the whole copy/,
  )
})

test.for<[string, string]>([
  ['manifest.json', '{"name":"an app"}'],
  ['endpoint=visibility/sales.parquet', ''],
])('advises to delete nothing of others: %s', async ([path, text]) => {
  const store = folderStore(join(root, 'foreign', path))
  await store.writeText(path, text)
  const error = await readBase(store).catch((error) => error)
  expect(error).toBeInstanceOf(UsageError)
  expect(error.message).toBe(
    `${store.location} has no copy, but ${path} of something else. Use a new folder or prefix.`,
  )
})

/** What is in a folder, and which names an error lists; none when a copy can begin. */
test.for<[readonly string[], string | undefined]>([
  [[], undefined],
  [['.DS_Store', 'lost+found', 'report.html'], undefined],
  // A first sync that was killed at once, before its first file, and after it.
  [['_lock', '_lock.1'], undefined],
  [['_state', '_lock'], undefined],
  [['endpoint=visibility', '_lock'], undefined],
  [['manifest.json', 'endpoint=brands', 'notes.md'], undefined],
  [['notes.md'], 'notes.md'],
  [['manifest.json', 'index.html'], 'index.html, manifest.json'],
  [['a', 'b', 'c', 'd', 'e'], 'a, b, c and 2 more'],
])('begins no copy in a folder of others: %j', async ([names, found]) => {
  const folder = join(root, `others ${names.join(' ')}`)
  for (const name of names) await mkdir(join(folder, name), { recursive: true })
  const outcome = await folderStore(folder)
    .exclusively(async () => 'begun')
    .catch(({ message }) => message)
  expect(outcome).toBe(
    found === undefined
      ? 'begun'
      : `${folder} has no copy, but other files: ${found}. Use a new folder, such as ${join(folder, 'copy')}.`,
  )
  if (found !== undefined) expect(await readdir(folder)).toEqual(names.toSorted())
})

test('names a folder in the place of a state', async () => {
  await mkdir(join(root, '_state', 'c.json'))
  await expect(readState(folderStore(root), '_state/c.json')).rejects.toThrow(
    /_state\/c\.json cannot be read: EISDIR/,
  )
})
