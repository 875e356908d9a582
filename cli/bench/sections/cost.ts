import { Redis } from 'ioredis'
import { meterOf } from '../measure.ts'
import { PRICES, priceOf, type Usage } from '../prices.ts'
import type { Section } from '../section.ts'
import { requestPage, startBrandYear } from '../year.ts'

/** Clients, and the pages of each: half the requests that its rate limit allows. */
const CLIENTS = 5
const PAGES = 50

const LABELS = {
  requests: 'Workers: requests',
  workerCpuMs: 'Workers: CPU, ms',
  postgresCpuMs: 'Neon: compute, CPU ms',
  transferredBytes: 'Neon: transfer, bytes',
  redisCommands: 'Upstash: commands',
  storedBytes: 'Neon: a month of storage, bytes per stored row',
}

/** What a million pages and a month of stored rows cost at list prices. */
export const section: Section = async (setting) => {
  const redisUrl = process.env.REDIS_URL
  await using its = await startBrandYear(setting, redisUrl)
  const { client, year } = its
  setting.report('pages')
  const requestPages = async (client: number) => {
    const headers = { ...year.headers, 'User-Agent': `${year.headers['User-Agent']} ${client}` }
    for (let page = 0; page < PAGES; page += 1) await requestPage({ ...year, headers })
  }
  // The first client warms up.
  await requestPages(0)
  const commands = await redisCommands(redisUrl)
  const measured = await meterOf(its)(async () => {
    for (let client = 1; client <= CLIENTS; client += 1) await requestPages(client)
  })
  const pages = CLIENTS * PAGES
  const { rows } = await client.query<{ bytes: number }>(
    `select pg_total_relation_size('daily.citation_share') / count(*)::float8 as bytes from daily.citation_share`,
  )
  const usage: Required<Pick<Usage, keyof typeof LABELS>> = {
    requests: measured.requests / pages,
    workerCpuMs: measured.workerCpuMs / pages,
    postgresCpuMs: measured.postgresCpuMs / pages,
    transferredBytes: Math.round(measured.transferredBytes / pages),
    redisCommands: Math.round((10 * ((await redisCommands(redisUrl)) - commands)) / pages) / 10,
    storedBytes: Math.round(rows[0]?.bytes ?? Number.NaN),
  }
  const items = Object.keys(LABELS).filter((key): key is keyof typeof LABELS => key in LABELS)
  const cost = (item: keyof typeof LABELS) => priceOf(item, usage[item] * 1e6)
  const lines = items.map((item) => {
    const { dollars, per, source, asOf } = PRICES[item]
    const price = `$${dollars} per ${per.toLocaleString('en')}`
    return [LABELS[item], usage[item], cost(item).toFixed(2), price, asOf, source]
  })
  const total = items.reduce((sum, item) => sum + cost(item), 0) - cost('storedBytes')
  return [
    {
      title: 'Dollars for a million pages of 1000 rows',
      columns: ['item', 'measured per page', 'dollars', 'list price', 'price of', 'source'],
      rows: [...lines.slice(0, -1), ['together', '', total.toFixed(2), '', '', ''], ...lines.slice(-1)],
      note: 'Prices apply beyond what the plans include: Workers Paid, Neon Launch, Upstash pay as you go. CPU is that of this machine. Neon charges for the time a compute runs, busy or not: its line is the least, with every CPU in use. The last line is a million stored rows for a month.',
    },
  ]
}

/** Commands of a connection, which Upstash does not charge for. */
const FREE = new Set(['info', 'client', 'select', 'hello', 'ping', 'config'])

/** Returns how many commands a Redis server has run, those of scripts included. */
async function redisCommands(url: string | undefined): Promise<number> {
  if (url === undefined) return 0
  const redis = new Redis(url)
  try {
    const stats = (await redis.info('commandstats')).matchAll(/^cmdstat_([^:|]+).*:calls=(\d+)/gm)
    const counts = [...stats].filter(([, name = '']) => !FREE.has(name)).map(([, , calls]) => Number(calls))
    return counts.reduce((sum, calls) => sum + calls, 0)
  } finally {
    redis.disconnect()
  }
}
