import { expect, test } from 'vitest'
import { seededRandom } from '../../../test/fixtures/random.ts'
import { requireCopy } from '../cli/copy.ts'
import { runLog } from '../cli/log-command.ts'
import type { Progress } from '../cli/progress.ts'
import { sync } from '../cli/sync.ts'
import { ExportApi } from '../src/index.ts'
import { memoryBucket } from './memory-bucket.ts'
import { BRANDS, randomService, STREAMS, silent } from './random-service.ts'

test('lists each day that a sync replaced, with its sums before and after, and why', async () => {
  const service = randomService(seededRandom(5))
  const fetch: typeof globalThis.fetch = async (input) => service.respond(new URL(String(input)), BRANDS)
  const api = new ExportApi({ baseUrl: 'https://service.example', apiKey: 'svc_live_1', fetch })
  const store = memoryBucket().open()
  const job = { api, store, progress: silent, fromDate: undefined }
  /** The rows and sums of each day that the service has, by table, brand and date. */
  const served = async () => {
    const days = new Map<string, Record<string, number>>()
    for (const [endpoint, texts] of Object.entries(await service.rows()))
      for (const text of texts) {
        const row = Object.fromEntries(JSON.parse(text))
        const stream = STREAMS.find((each) => each.endpoint === endpoint)
        const day = [stream?.name, row.brand_id, row.date].join()
        const { rows = 0, ...sums } = days.get(day) ?? {}
        for (const field of stream?.totals ?? []) sums[field] = (sums[field] ?? 0) + row[field]
        days.set(day, { rows: rows + 1, ...sums })
      }
    return days
  }
  const logged: Record<string, unknown>[] = []
  const progress: Progress = {
    ...silent,
    notice: (_event, _message, fields = {}) => void logged.push(fields),
  }
  await sync(job, undefined)
  await runLog(store, progress, {})
  expect(logged).toEqual([{}])
  const before = await served()
  const old = [...(await requireCopy(store)).metrics.values()].map(
    ({ name, snapshot }) => `${name}/${[...snapshot.files.keys()][0]}`,
  )
  for (let count = 0; count < 20; count += 1) service.restate()
  await sync(job, undefined)
  const after = await served()
  await runLog(store, progress, { days: true })
  const replaced = [...before].filter(
    ([day, sums]) => JSON.stringify(sums) !== JSON.stringify(after.get(day)),
  )
  expect(replaced.length).toBeGreaterThan(3)
  for (const [day, sums] of replaced) {
    const [table, brand, from] = day.split(',')
    const entry = logged.find((each) => each.table === table && each.brandId === brand && each.from === from)
    expect(entry).toMatchObject({
      to: from,
      days: 1,
      causes: ['answers'],
      before: sums,
      after: after.get(day) ?? { rows: 0 },
    })
  }
  // After --keep days, the files of the versions before are gone, and their numbers of rows stay.
  await store.remove(old)
  logged.length = 0
  await runLog(store, progress, {})
  expect(logged).toContainEqual(expect.objectContaining({ before: { rows: expect.any(Number) } }))
})
