import { Redis } from 'ioredis'
import type { ClientBase } from 'pg'
import type { Competitor, Page } from './compare.ts'
import { backendsOf, cpuOf, cpuUsed, familyOf, workerdOf } from './cpu.ts'
import { load } from './http.ts'

/** CPU milliseconds of a page by process, its Redis commands, and the rate of one run. */
export type PageCost = {
  readonly server: number
  readonly postgres: number
  readonly redis: number
  readonly commands: number
  readonly pagesPerSecond: number
}

export type Run = {
  readonly client: ClientBase
  readonly redisUrl: string | undefined
  readonly connections: number
  readonly seconds: number
}

/** Loads a server with one page and measures what each page costs. */
export async function pageCost(
  { client, redisUrl, connections, seconds }: Run,
  { server }: Pick<Competitor, 'server'>,
  page: Page,
): Promise<PageCost> {
  const read = async () => {
    const redis = server.isWorkerd ? await readRedis(redisUrl) : { pids: [], commands: 0 }
    return {
      server: cpuOf(server.isWorkerd ? workerdOf(server.pid) : familyOf(server.pid)),
      postgres: cpuOf(await backendsOf(client)),
      redis: cpuOf(redis.pids),
      commands: redis.commands,
    }
  }
  const before = await read()
  const { pagesPerSecond, latencies } = await load({ url: server.url, ...page, connections, seconds })
  const after = await read()
  const perPage = (key: 'server' | 'postgres' | 'redis') =>
    cpuUsed(before[key], after[key]) / latencies.length
  return {
    server: perPage('server'),
    postgres: perPage('postgres'),
    redis: perPage('redis'),
    commands: Math.round((10 * (after.commands - before.commands)) / latencies.length) / 10,
    pagesPerSecond,
  }
}

/** Commands of a connection, which Upstash does not charge for. */
const FREE = new Set(['info', 'client', 'select', 'hello', 'ping', 'config'])

/** Returns the process of a Redis server, and the commands that it has run, those of scripts included. */
async function readRedis(url: string | undefined): Promise<{ pids: number[]; commands: number }> {
  if (url === undefined) return { pids: [], commands: 0 }
  const redis = new Redis(url)
  try {
    const pid = Number(/^process_id:(\d+)/m.exec(await redis.info('server'))?.[1])
    const stats = (await redis.info('commandstats')).matchAll(/^cmdstat_([^:|]+).*:calls=(\d+)/gm)
    const counts = [...stats].filter(([, name = '']) => !FREE.has(name)).map(([, , calls]) => Number(calls))
    return { pids: [pid], commands: counts.reduce((sum, calls) => sum + calls, 0) }
  } finally {
    redis.disconnect()
  }
}
