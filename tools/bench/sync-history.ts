import { createBatch } from '../../connectors/typescript/cli/batch.ts'
import type { MetricTable } from '../../connectors/typescript/cli/copy.ts'
import { DAY_MS } from '../../connectors/typescript/cli/days.ts'
import { openTable, vacuum } from '../../connectors/typescript/cli/delta/table.ts'
import type { Store } from '../../connectors/typescript/cli/store.ts'
import { METRICS } from '../../connectors/typescript/cli/streams.ts'
import { countingStore } from './counting-store.ts'
import type { Table } from './section.ts'
import { alternateTimes, timed } from './timing.ts'

const NAME = 'citation_share'
const STEP_MS = 300_000
const KEEP_MS = 7 * DAY_MS
const ROUNDS = 15
const REQUEST_MS = 20
const ROWS_PER_DAY = 18
const BRAND = '00000000-0000-4000-8000-000000000000'
const START = Date.UTC(2025, 10, 21)

/** What it costs to open a table that was synced every five minutes for a year, next to one that was synced once. */
export async function measureHistory(days: number): Promise<Table> {
  const stores = { once: countingStore(), often: countingStore() }
  const { now } = Date
  let clock = START
  Date.now = () => clock
  try {
    const table = await openMetric(stores.often.store)
    for (; clock < START + days * DAY_MS; clock += STEP_MS) await syncDays(table, [dayOf(clock)], clock)
    const all = Array.from({ length: days }, (_, day) => dayOf(START + day * DAY_MS))
    await syncDays(await openMetric(stores.once.store), all, clock)
  } finally {
    Date.now = now
  }
  const [inMemory, far] = [await compareOpening(stores, 0), await compareOpening(stores, REQUEST_MS)]
  const rowOf = async ({ store, state }: Counting) => {
    Object.assign(state, { requests: 0, lists: 0, entries: 0 })
    const { snapshot, listed } = await openMetric(store)
    const { requests, lists, entries } = state
    const log = (await store.list(`${NAME}/_delta_log`)).size
    return [snapshot.version + 1, snapshot.files.size, listed.size, log, entries, lists, requests]
  }
  return {
    title: `A table that was synced every five minutes for ${days} days`,
    columns: ['synced', 'versions', 'files', 'files of its folder', 'of its log', ...OPENING],
    rows: [
      ['once', ...(await rowOf(stores.once)), 1, 1],
      ['every five minutes', ...(await rowOf(stores.often)), inMemory, far],
    ],
    note: `Each sync changes the ${ROWS_PER_DAY} rows of its day. Replaced files and log entries stay for 7 days. A list request has up to 1,000 objects. The times are relative to those of the copy that was synced once: medians of ${ROUNDS} alternating rounds.`,
  }
}

const OPENING = [
  'entries to read',
  'list requests',
  'all requests to open it',
  'time in memory',
  `time with ${REQUEST_MS} ms a request`,
]

type Counting = ReturnType<typeof countingStore>

/** Returns how long opening the one copy takes, as a multiple of the other. */
async function compareOpening({ once, often }: Record<'once' | 'often', Counting>, ms: number) {
  once.state.ms = often.state.ms = ms
  const open = ({ store }: Counting) => timed(() => openMetric(store))
  const median = await alternateTimes({ once: () => open(once), often: () => open(often) }, ROUNDS)
  once.state.ms = often.state.ms = 0
  return median('often') / median('once')
}

async function openMetric(store: Store): Promise<MetricTable> {
  const stream = METRICS.find(({ name }) => name === NAME)
  if (stream === undefined) throw new Error(`streams.json has no ${NAME}.`)
  return { ...(await openTable(store, { name: NAME, columns: stream.tableColumns })), stream }
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10)

/** Commits days as a sync does that found them changed. */
async function syncDays(table: MetricTable, dates: readonly string[], now: number): Promise<void> {
  const expiry = now - KEEP_MS
  // What a sync lists when it opens a table. Once a day is enough for the files that are left.
  if (now % DAY_MS === 0) await vacuum({ ...table, listed: await table.store.list(table.name) }, expiry)
  const batch = createBatch(new Map([[table.stream.endpoint, table]]), { now, expiry })
  for (const date of dates) {
    const rows = Array.from({ length: ROWS_PER_DAY }, (_, index) => ({
      brand_id: BRAND,
      date,
      url: `https://www.site-${index}.example/articles/2026/review`,
      domain: `site-${index}.example`,
      is_owned: false,
      citations: 1 + ((now / STEP_MS + index) % 40),
      owned_citations: 0,
    }))
    await batch.add(table, { brandId: BRAND, date, proof: `${ROWS_PER_DAY} ${'0'.repeat(15)}`, rows })
  }
  await batch.flush(true)
}
