import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { describeFile, monthPath, openCopy, readCopy, writeState } from '../cli/state.ts'

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
  const brand = { folder: join(root, name), brandId: 'b' }
  const path = monthPath(brand, FILE)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, 'old')
  const file = { ...(await describeFile(path)), from: '2026-10-01', through: '1', schema: '' }
  const state = { token: '1', fromDate: '2026-10-01', files: { [FILE]: file }, unproven: {} }
  await writeState({ ...brand, state })
  await happen(path)
  const copy = await openCopy(brand)
  expect(copy.state.token).toBe(isSame ? '1' : null)
  expect(Object.keys(copy.state.files)).toEqual(isSame ? [FILE] : [])
})

test('names a state that is damaged', async () => {
  await mkdir(join(root, '_state'))
  await writeFile(join(root, '_state', 'b.json'), '{')
  await expect(readCopy({ folder: root, brandId: 'b' })).rejects.toThrow(
    /_state\/b\.json is damaged\. Delete it/,
  )
})

test('names a folder in the place of a state', async () => {
  await mkdir(join(root, '_state', 'c.json'))
  await expect(readCopy({ folder: root, brandId: 'c' })).rejects.toThrow(
    /_state\/c\.json cannot be read: EISDIR/,
  )
})
