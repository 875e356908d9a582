import { Redis } from 'ioredis'
import { backendsOf, cpuOf, cpuUsed } from './cpu.ts'
import { connect, fetchBody } from './http.ts'
import type { Page, RunningService } from './pages.ts'

/** CPU milliseconds of a page by process, and its Redis commands. */
export type PageCost = {
  readonly worker: number
  readonly postgres: number
  readonly commands: number
}

/** Requests one page again and again, and measures what each page costs. */
export async function pageCost(
  { client, data, service }: RunningService,
  page: Page,
  seconds: number,
): Promise<PageCost> {
  const read = async () => {
    const commands = await redisCommands(data.redisUrl)
    const worker = cpuOf([service.pid])
    return { worker, postgres: cpuOf(await backendsOf(client)), commands }
  }
  const before = await read()
  const pool = connect(service.url, 1)
  let pages = 0
  for (const end = performance.now() + seconds * 1000; performance.now() < end; pages += 1) {
    await fetchBody(pool, page.request())
  }
  await pool.close()
  const after = await read()
  const perPage = (key: 'worker' | 'postgres') => cpuUsed(before[key], after[key]) / pages
  return {
    worker: perPage('worker'),
    postgres: perPage('postgres'),
    commands: Math.round((10 * (after.commands - before.commands)) / pages) / 10,
  }
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
