import { expect, test } from 'vitest'
import { seededRandom } from '../../../test/fixtures/random.ts'
import { requireCopy } from '../cli/copy.ts'
import { runLog } from '../cli/log-command.ts'
import type { Progress } from '../cli/progress.ts'
import { sync } from '../cli/sync.ts'
import { ExportApi } from '../src/index.ts'
import { memoryBucket } from './memory-bucket.ts'
import { BRANDS, randomService, STREAMS, silent } from './random-service.ts'

/** A service, a copy of it, and what its log has: the fields and the messages of each entry. */
function setUp(seed: number) {
  const service = randomService(seededRandom(seed))
  const fetch: typeof globalThis.fetch = async (input) => service.respond(new URL(String(input)), BRANDS)
  const api = new ExportApi({ baseUrl: 'https://service.example', apiKey: 'svc_live_1', fetch })
  const store = memoryBucket().open()
  const readLog = async (options = {}) => {
    const entries: Record<string, unknown>[] = []
    const notice: Progress['notice'] = (_event, message, fields = {}) =>
      void entries.push({ ...fields, message: [message].flat().join() })
    await runLog(store, { ...silent, notice }, options)
    return entries
  }
  return {
    service,
    store,
    syncAll: () => sync({ api, store, progress: silent, fromDate: undefined }, undefined),
    readLog,
  }
}

/** Returns the rows and sums of each day that a service has, by table, brand and date. */
async function daysOf({ rows }: ReturnType<typeof randomService>) {
  const days = new Map<string, Record<string, number>>()
  for (const [endpoint, texts] of Object.entries(await rows()))
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

test('lists each day that a sync replaced, with its sums before and after, and why', async () => {
  const { service, store, syncAll, readLog } = setUp(5)
  await syncAll()
  expect(await readLog()).toEqual([{ message: 'No sync has replaced a day.' }])
  const before = await daysOf(service)
  const old = [...(await requireCopy(store)).metrics.values()].map(
    ({ name, snapshot }) => `${name}/${[...snapshot.files.keys()][0]}`,
  )
  for (let count = 0; count < 20; count += 1) service.restate()
  await syncAll()
  const after = await daysOf(service)
  const logged = await readLog({ days: true })
  const replaced = [...before].filter(
    ([day, sums]) => JSON.stringify(sums) !== JSON.stringify(after.get(day)),
  )
  expect(replaced.length).toBeGreaterThan(3)
  for (const [day, sums] of replaced) {
    const [table, brandId, from] = day.split(',')
    expect(logged).toContainEqual(
      expect.objectContaining({
        ...{ table, brandId, from, to: from, days: 1, causes: ['answers'], before: sums },
        after: expect.objectContaining(after.get(day) ?? { rows: 0 }),
      }),
    )
  }
  // After --keep days, the files of the versions before are gone, and their numbers of rows stay.
  await store.remove(old)
  expect(await readLog()).toContainEqual(
    expect.objectContaining({
      before: { rows: expect.any(Number) },
      message: expect.stringContaining('no longer there to add up'),
    }),
  )
})

test('lists a past day that empties and has rows again, also after a gap in an old log', async () => {
  const { service, store, syncAll, readLog } = setUp(6)
  const day = '2026-09-15'
  const counts: number[] = []
  // More versions than a checkpoint has.
  for (let syncs = 0; syncs < 130; syncs += 1) {
    for (let count = 0; count < 4; count += 1) service.restate(BRANDS[0])
    await syncAll()
    counts.push((await daysOf(service)).get(['visibility', BRANDS[0], day].join())?.rows ?? 0)
  }
  const rowsOf = async () => {
    const entries = (await readLog({ days: true })).filter(
      ({ table, from }) => table === 'visibility' && from === day,
    )
    return entries.map(({ after }) => Object(after).rows)
  }
  const listed = await rowsOf()
  const changed = counts.filter((rows, index) => rows !== counts[index - 1])
  // The first sync replaces nothing.
  expect(listed.filter((rows, index) => rows !== listed[index - 1])).toEqual(changed.slice(1))
  expect(changed.filter((rows, index) => rows > 0 && changed[index - 1] === 0).length).toBeGreaterThan(3)
  await store.remove(['visibility/_delta_log/00000000000000000009.json'])
  const left = await rowsOf()
  expect(left.length).toBeGreaterThan(0)
  expect(listed.slice(-left.length)).toEqual(left)
})
