import { Redis } from 'ioredis'
import { withBrandYear } from '../brand-year.ts'
import { backendsOf, cpuOf, cpuUsed, withoutParallelWorkers, workerdOf } from '../cpu.ts'
import { rowBytes } from '../million.ts'
import { dollars } from '../prices.ts'
import type { Section } from '../section.ts'
import { alternate } from '../timing.ts'
import { requestPage } from '../year.ts'

const ROUNDS = 5

/** What a million pages and a month of stored rows cost at list prices. */
export const section: Section = (setting) => {
  const redisUrl = process.env.REDIS_URL
  return withBrandYear(
    setting,
    async ({ client, year, state }) => {
      await withoutParallelWorkers(client)
      setting.report('pages')
      const count = async () => ({
        worker: cpuOf(workerdOf(process.pid)),
        postgres: cpuOf(await backendsOf(client)),
        received: state.receivedBytes,
        commands: await redisCommands(redisUrl),
      })
      let clients = 0
      /** Measures half the budget of a client. */
      const measure = async () => {
        const headers = { ...year.headers, 'User-Agent': `${year.headers['User-Agent']} ${clients++}` }
        const before = await count()
        for (let page = 0; page < PAGES; page += 1) await requestPage({ ...year, headers })
        const after = await count()
        return {
          worker: cpuUsed(before.worker, after.worker) / PAGES,
          postgres: cpuUsed(before.postgres, after.postgres) / PAGES,
          received: Math.round((after.received - before.received) / PAGES),
          commands: Math.round((10 * (after.commands - before.commands)) / PAGES) / 10,
        }
      }
      const measured = await alternate({ page: measure }, ROUNDS)
      const row = await rowBytes(client, 'citation_share')
      return [
        dollars({
          requests: 1,
          workerCpuMs: measured('page', ({ worker }) => worker),
          postgresCpuMs: measured('page', ({ postgres }) => postgres),
          transferredBytes: measured('page', ({ received }) => received),
          redisCommands: measured('page', ({ commands }) => commands),
          storedBytes: Math.round(row.table + row.index),
        }),
      ]
    },
    redisUrl,
  )
}

/** Half the budget of a client. */
const PAGES = 50

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
