import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Client } from 'pg'
import { Mistake } from '../../cli/database.ts'
import { bringToCurrent, toBeHeld } from '../../cli/schema.ts'
import { holdStatements } from '../../drizzle/statements.ts'
import { BINDINGS } from '../../emulator/bindings.ts'
import { bundle } from '../../emulator/bundle.ts'
import { neon } from '../../emulator/neon.ts'
import { outbound } from '../../emulator/outbound.ts'
import { openOutlet } from '../../emulator/outlet.ts'
import { openPools } from '../../emulator/pools.ts'
import { connectRedis, embeddedRedis } from '../../emulator/redis.ts'
import { upstash } from '../../emulator/upstash.ts'
import { withClient } from '../support/database.ts'
import { findPostgres, startPostgres, startStandby } from '../support/faults/postgres.ts'
import split from './arrangements/split.ts'
import { runDirect } from './direct.ts'
import { SERVICE } from './workerd.ts'

/** What a Worker asks. */
export type Place = 'primary' | 'replica' | 'counter'

/** Something for each place: milliseconds to it, or the requests that it was sent. */
export type EachPlace = Record<Place, number>

/** The ways to ask two databases: the service over either, and a Worker that asks both. */
export const WORKERS = ['primary', 'split', 'replica'] as const

/** A Worker over two databases, at distances that can be changed. */
export type Arranged = {
  readonly url: string
  readonly distances: EachPlace
  readonly trips: EachPlace
}

/** A primary, a replica that stays behind it, and the Workers over them. */
export type TwoDatabases = {
  readonly primary: Client
  readonly replica: Client
  readonly workers: Readonly<Record<(typeof WORKERS)[number], Arranged>>
  /** The process that runs the Workers. */
  readonly pid: number
}

const REPLICA_URL = BINDINGS.DATABASE_URL.replace('ep-local', 'ep-replica')

/** Fills a PostgreSQL of its own, starts a replica of it and the Workers, and ends them all when the work is done. */
export async function inTwoDatabases<Result>(
  { behindMs, fill }: { behindMs: number; fill: (client: Client) => Promise<void> },
  work: (databases: TwoDatabases) => Promise<Result>,
): Promise<Result> {
  const binaries = await findPostgres()
  if (binaries === undefined) {
    throw new Mistake('This section starts two PostgreSQL servers of its own, from /usr/lib/postgresql')
  }
  const undo: (() => unknown)[] = []
  const keep = <Part>(part: Part, end: (part: Part) => unknown): Part => {
    undo.push(() => end(part))
    return part
  }
  try {
    const original = keep(await startPostgres(binaries), ({ remove }) => remove())
    await withClient(original.url, async (client) => {
      await bringToCurrent(client)
      await holdStatements(client, await toBeHeld(split.statements))
      await fill(client)
    })
    const { url } = original
    const copy = keep(await startStandby(binaries, { url, behindMs }), ({ remove }) => remove())

    const folder = keep(await mkdtemp(join(tmpdir(), 'arrangements-')), (made) =>
      rm(made, { recursive: true }),
    )
    await bundle(fileURLToPath(new URL('./arrangements', import.meta.url)), folder)
    await bundle(fileURLToPath(new URL('../../functions', import.meta.url)), folder)
    const redisUrl = process.env.REDIS_URL
    const redis = keep(await (redisUrl ? connectRedis(redisUrl) : embeddedRedis()), ({ close }) => close())
    const pools = {
      primary: keep(openPools(original.url, { roles: true }), ({ end }) => end()),
      replica: keep(openPools(copy.url, { roles: true }), ({ end }) => end()),
    }
    const asked = { primary: neon(pools.primary), replica: neon(pools.replica) }
    const counted = upstash(redis, BINDINGS.UPSTASH_REDIS_REST_TOKEN)

    const open = async (name: (typeof WORKERS)[number]) => {
      const distances: EachPlace = { primary: 0, replica: 0, counter: 0 }
      const trips: EachPlace = { primary: 0, replica: 0, counter: 0 }
      const away = (place: Place, handler: (request: Request) => Promise<Response>) => (request: Request) => {
        trips[place] += 1
        return distances[place] > 0 ? delay(distances[place]).then(() => handler(request)) : handler(request)
      }
      const answer = outbound({
        handlers: {
          neon: (request) => {
            const place = isReplica(request) ? 'replica' : 'primary'
            return away(place, asked[place])(request)
          },
          upstash: away('counter', counted),
        },
        trips: { neon: 0, upstash: 0 },
        latencyMs: 0,
      })
      const outlet = keep(await openOutlet(answer), ({ close }) => close())
      const code = readFileSync(join(folder, name === 'split' ? 'split.js' : `${SERVICE}.js`), 'utf8')
      const DATABASE_URL = name === 'replica' ? REPLICA_URL : BINDINGS.DATABASE_URL
      const bindings = { ...BINDINGS, DATABASE_URL, REPLICA_URL }
      return { distances, trips, direct: { name, code, bindings, outlet: outlet.service } }
    }
    const opened = {
      primary: await open('primary'),
      split: await open('split'),
      replica: await open('replica'),
    }
    const running = keep(await runDirect(Object.values(opened).map(({ direct }) => direct)), ({ close }) =>
      close(),
    )
    const arranged = async (name: (typeof WORKERS)[number]): Promise<Arranged> => {
      const { distances, trips } = opened[name]
      return { url: await running.urlOf(name), distances, trips }
    }
    const workers = {
      primary: await arranged('primary'),
      split: await arranged('split'),
      replica: await arranged('replica'),
    }
    return await withClient(original.url, (primary) =>
      withClient(copy.url, (replica) => work({ primary, replica, workers, pid: running.pid })),
    )
  } finally {
    for (const step of undo.reverse()) await step()
  }
}

const isReplica = (request: Request): boolean =>
  request.headers.get('Neon-Connection-String')?.includes('@ep-replica.') === true
