const WORKERS = 'https://developers.cloudflare.com/workers/platform/pricing/'
const NEON = 'https://neon.com/docs/introduction/plans'
const R2 = 'https://developers.cloudflare.com/r2/pricing/'
const UPSTASH = 'https://upstash.com/pricing/redis'

/** List prices beyond what a plan includes: Workers Paid, R2, Neon Launch, Upstash pay as you go. */
export const PRICES = {
  requests: { dollars: 0.3, per: 1e6, source: WORKERS, asOf: '2026-08-03' },
  workerCpuMs: { dollars: 0.02, per: 1e6, source: WORKERS, asOf: '2026-08-03' },
  /** A compute unit has one virtual CPU: an hour is 3.6 million milliseconds. */
  postgresCpuMs: { dollars: 0.106, per: 3.6e6, source: NEON, asOf: '2026-11-12' },
  transferredBytes: { dollars: 0.1, per: 1e9, source: NEON, asOf: '2026-03-20' },
  /** For a month. */
  storedBytes: { dollars: 0.35, per: 1e9, source: NEON, asOf: '2026-11-12' },
  redisCommands: { dollars: 0.2, per: 1e5, source: UPSTASH, asOf: '2026-11-09' },
  objectWrites: { dollars: 4.5, per: 1e6, source: R2, asOf: '2026-08-03' },
  objectReads: { dollars: 0.36, per: 1e6, source: R2, asOf: '2026-08-03' },
  /** For a month, without a charge for transfer. */
  objectBytes: { dollars: 0.015, per: 1e9, source: R2, asOf: '2026-08-03' },
} as const

type Item = keyof typeof PRICES

/** What something uses. */
export type Usage = Readonly<Partial<Record<Item, number>>>

/** Returns the dollars of so much of an item. */
export const priceOf = (item: Item, used: number): number => (used * PRICES[item].dollars) / PRICES[item].per

/** Returns the dollars of what is used. */
export const costOf = (usage: Usage): number =>
  ITEMS.reduce((sum, item) => sum + priceOf(item, usage[item] ?? 0), 0)

const ITEMS = Object.keys(PRICES).filter((key): key is Item => key in PRICES)
