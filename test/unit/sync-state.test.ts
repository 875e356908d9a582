import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { monthPath, readCopy, storeNext } from '../../connectors/typescript/cli/state.ts'

const root = await mkdtemp(join(tmpdir(), 'sync-state-'))
afterAll(() => rm(root, { recursive: true }))

const FILE = 'visibility/2026-10'
const content = (text: string, through: string) => ({
  sha256: createHash('sha256').update(text).digest('hex'),
  from: '2026-01-01',
  through,
})
const OLD = content('old', '1')
const NEW = content('new', '2')

/** Sync is killed while it replaces or deletes the old file: what is on disk, what it stored, and what the file contains. */
const KILLED = [
  ['before the rename', { onDisk: 'old', next: NEW, found: OLD }],
  ['after the rename', { onDisk: 'new', next: NEW, found: NEW }],
  ['before it deletes the file', { onDisk: 'old', next: null, found: OLD }],
  ['after it has deleted the file', { onDisk: undefined, next: null, found: undefined }],
] as const

test.for(KILLED)('knows what a file contains when sync is killed %s', async ([
  name,
  { onDisk, next, found },
]) => {
  const brand = { folder: join(root, name), brandId: 'b' }
  const path = monthPath(brand, FILE)
  await mkdir(dirname(path), { recursive: true })
  if (onDisk !== undefined) await writeFile(path, onDisk)
  await storeNext(
    { ...brand, state: { token: '1', fromDate: '2026-01-01', files: { [FILE]: OLD } } },
    { file: FILE, content: next },
  )
  const { state } = await readCopy(brand)
  expect(state).toEqual({
    token: '1',
    fromDate: '2026-01-01',
    files: found === undefined ? {} : { [FILE]: found },
  })
})

test('names a state that is damaged', async () => {
  await mkdir(join(root, '_state'))
  await writeFile(join(root, '_state', 'b.json'), '{')
  await expect(readCopy({ folder: root, brandId: 'b' })).rejects.toThrow(
    /_state\/b\.json is damaged\. Restore/,
  )
})
