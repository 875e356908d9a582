import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { fetchWindows } from '../cli/changes.ts'
import { monthPath, readCopy, writeState } from '../cli/state.ts'
import { listChanges, openCopy } from '../cli/sync-brand.ts'
import { fakeApi, META, page } from './fake-api.ts'

const root = await mkdtemp(join(tmpdir(), 'sync-state-'))
afterAll(() => rm(root, { recursive: true }))

const FILE = 'visibility/2026-10'
const change = { endpoint: 'visibility', totals: {}, changed_at: '2' }

/** What is in the place of the month's file, whose hash the state does not have. */
test.for([
  ['replaced the file', 'new', 2],
  ['deleted the file', undefined, 0],
] as const)('fetches a month again when sync was killed after it %s', async ([name, onDisk, rows]) => {
  const brand = { folder: join(root, name), brandId: META.brandId }
  const files = { [FILE]: { sha256: 'of the old file', from: META.fromDate, through: '1' } }
  await writeState({ ...brand, state: { token: '1', fromDate: META.fromDate, files } })
  const path = monthPath(brand, FILE)
  await mkdir(dirname(path), { recursive: true })
  if (onDisk !== undefined) await writeFile(path, onDisk)
  const days = [{ ...change, date: '2026-10-02', rows }]
  const whole = [{ ...change, date: '2026-10-01', rows, changed_at: '1' }, ...days]
  const { api, requests } = fakeApi(onDisk === undefined ? [page(whole)] : [page(days), page(whole)])
  const copy = await openCopy(brand, brand.brandId)
  const changes = await listChanges({ api, fromDate: undefined }, copy)
  expect(requests.at(-1)?.url.searchParams.get('since')).toBe(null)
  expect(fetchWindows('visibility', changes, copy.state)).toMatchObject(
    onDisk === undefined ? [] : [{ from: '2026-10-01', to: '2026-10-02', rows: 4 }],
  )
})

test('names a state that is damaged', async () => {
  await mkdir(join(root, '_state'))
  await writeFile(join(root, '_state', 'b.json'), '{')
  await expect(readCopy({ folder: root, brandId: 'b' })).rejects.toThrow(
    /_state\/b\.json is damaged\. Restore/,
  )
})
