import type { Table } from './section.ts'

type Price = {
  readonly dollars: number
  readonly per: number
  readonly source: string
  readonly asOf: string
}

const WORKERS = 'https://developers.cloudflare.com/workers/platform/pricing/'
const NEON = 'https://neon.com/docs/introduction/plans'
const R2 = 'https://developers.cloudflare.com/r2/pricing/'
const UPSTASH = 'https://upstash.com/pricing/redis'

/** List prices beyond what a plan includes: Workers Paid, R2, Neon Launch, Upstash pay as you go. */
const PRICES = {
  requests: { dollars: 0.3, per: 1e6, source: WORKERS, asOf: '2026-08-03' },
  workerCpuMs: { dollars: 0.02, per: 1e6, source: WORKERS, asOf: '2026-08-03' },
  /** A compute unit has one virtual CPU: an hour is 3.6 million milliseconds. */
  postgresCpuMs: { dollars: 0.106, per: 3.6e6, source: NEON, asOf: '2026-11-12' },
  transferredBytes: { dollars: 0.1, per: 1e9, source: NEON, asOf: '2026-03-20' },
  storedBytes: { dollars: 0.35, per: 1e9, source: NEON, asOf: '2026-11-12' },
  redisCommands: { dollars: 0.2, per: 1e5, source: UPSTASH, asOf: '2026-11-09' },
  objectWrites: { dollars: 4.5, per: 1e6, source: R2, asOf: '2026-08-03' },
  objectReads: { dollars: 0.36, per: 1e6, source: R2, asOf: '2026-08-03' },
  /** For a month, without a charge for transfer. */
  objectBytes: { dollars: 0.015, per: 1e9, source: R2, asOf: '2026-08-03' },
} as const satisfies Record<string, Price>

type Item = keyof typeof PRICES

const ITEMS = Object.keys(PRICES).filter((key): key is Item => key in PRICES)

/** What something uses. */
export type Usage = Readonly<Partial<Record<Item, number>>>

/** Returns the dollars of what is used. */
export const costOf = (usage: Usage): number =>
  ITEMS.reduce((sum, item) => sum + ((usage[item] ?? 0) * PRICES[item].dollars) / PRICES[item].per, 0)

const LABELS = {
  requests: 'Workers: requests',
  workerCpuMs: 'Workers: CPU, ms',
  postgresCpuMs: 'Neon: compute, CPU ms',
  transferredBytes: 'Neon: transfer, bytes',
  redisCommands: 'Upstash: commands',
  storedBytes: 'Neon: a month of storage, bytes per stored row',
} as const satisfies Readonly<Partial<Record<Item, string>>>

type PageItem = keyof typeof LABELS

/**
 * The table of what a million pages cost, and a million rows stored for a month. `usage` is of one page, `storedBytes` of
 * one stored row with its index.
 */
export function dollars(usage: Readonly<Record<PageItem, number>>): Table {
  const cost = (item: PageItem) => costOf({ [item]: usage[item] * 1e6 })
  const { storedBytes, ...perPage } = LABELS
  const row = (item: PageItem) => {
    const { dollars, per, source, asOf } = PRICES[item]
    const price = `$${dollars} per ${per.toLocaleString('en')}`
    return [LABELS[item], usage[item], cost(item).toFixed(2), price, asOf, source]
  }
  const items = Object.keys(perPage).filter((key): key is keyof typeof perPage => key in perPage)
  const total = items.reduce((sum, item) => sum + cost(item), 0)
  return {
    title: 'Dollars for a million pages of 1000 rows',
    columns: ['item', 'measured per page', 'dollars', 'list price', 'price of', 'source'],
    rows: [...items.map(row), ['together', '', total.toFixed(2), '', '', ''], row('storedBytes')],
    note: `Prices apply beyond what the plans include: Workers Paid, Neon Launch, Upstash pay as you go. CPU is that of this machine. Neon charges for the time a compute runs, busy or not: its line is the least, with every CPU in use. The last line is a million stored rows for a month.`,
  }
}
