import { Redis } from 'ioredis'
import type { ClientBase } from 'pg'
import type { Running } from './contenders/contender.ts'
import type { Page } from './contest.ts'
import { cpuOf, familyOf, programOf, spent } from './cpu.ts'
import { type Driven, drive } from './drive.ts'

/** Processor milliseconds of one page, by who spent them; `apart` is the emulator's part, which production has not. */
export type Cost = Driven & {
  readonly server: number
  readonly postgres: number
  readonly redis: number
  readonly apart: number
}

/** Drives a server with one page at some connections, and counts the processor time of all that work on it. */
export async function pageCost(
  client: ClientBase,
  {
    running,
    page,
    redisPid,
    connections,
    seconds,
  }: {
    running: Running
    page: Page
    redisPid: number | null
    connections: number
    seconds: number
  },
): Promise<Cost> {
  const look = async () => {
    const family = familyOf(running.server.pid)
    const isServer = (pid: number) => running.program === undefined || programOf(pid) === running.program
    return {
      server: cpuOf(family.filter(isServer)),
      apart: cpuOf(family.filter((pid) => !isServer(pid))),
      postgres: cpuOf(await backendsOf(client)),
      redis: cpuOf(redisPid === null || !running.counts ? [] : [redisPid]),
    }
  }
  const before = await look()
  const driven = await drive({ url: running.server.url, ...page, connections, seconds })
  const after = await look()
  const each = (who: keyof typeof before) => spent(before[who], after[who]) / driven.pages
  return {
    ...driven,
    server: each('server'),
    postgres: each('postgres'),
    redis: each('redis'),
    apart: each('apart'),
  }
}

/** The PostgreSQL processes that serve clients of this database, but for the one that is asked here. */
export async function backendsOf(client: ClientBase): Promise<number[]> {
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity
     where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
  )
  return rows.map(({ pid }) => pid)
}

/** The process of a Redis server on this machine. */
export async function redisProcess(url: string | undefined): Promise<number | null> {
  if (url === undefined) return null
  const redis = new Redis(url)
  try {
    const pid = Number(/^process_id:(\d+)/m.exec(await redis.info('server'))?.[1])
    return programOf(pid).startsWith('redis') ? pid : null
  } finally {
    redis.disconnect()
  }
}
