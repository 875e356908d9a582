import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Client } from 'pg'
import { bundle } from '../../bundle/bundle.ts'
import { migrateToLatest, toStatementFunctions } from '../../bundle/migrate-to-latest.ts'
import { UsageError } from '../../drizzle/db/connect.ts'
import { installPreparedStatements } from '../../drizzle/db/prepared-statements.ts'
import { neon } from '../../emulator/neon/handler.ts'
import { openPools } from '../../emulator/neon/pools.ts'
import { upstash } from '../../emulator/upstash/handler.ts'
import { connectRedis, embeddedRedis } from '../../emulator/upstash/redis.ts'
import { BINDINGS } from '../../emulator/workers/bindings.ts'
import { withClient } from '../../test/support/database.ts'
import { findPostgres, startPostgres, startStandby } from '../../test/support/faults/postgres.ts'
import split from './arrangements/split.ts'
import { runDirect } from './direct.ts'
import { openReach, REPLICA, type Reach } from './reach.ts'
import { SERVICE } from './workerd.ts'

/** The ways to ask two databases: the service over either, and a Worker that asks both. */
export const WORKERS = ['primary', 'split', 'replica'] as const

export type Way = (typeof WORKERS)[number]

/** A Worker that is asked at an address, and how far it is from what it asks. */
export type Arranged = Pick<Reach, 'distances' | 'trips'> & { readonly url: string }

/** A primary, a replica that stays behind it, and the Workers over them. */
export type TwoDatabases = {
  readonly primary: Client
  readonly replica: Client
  readonly workers: Readonly<Record<Way, Arranged>>
  /** The process that runs the Workers. */
  readonly pid: number
}

const REPLICA_URL = BINDINGS.DATABASE_URL.replace('ep-local', REPLICA)

/** Fills a PostgreSQL of its own, starts a replica of it and the Workers, and ends them all when the work is done. */
export async function inTwoDatabases<Filled, Result>(
  { behindMs, fill }: { behindMs: number; fill: (client: Client) => Promise<Filled> },
  work: (databases: TwoDatabases, filled: Filled) => Promise<Result>,
): Promise<Result> {
  const binaries = await findPostgres()
  if (binaries === undefined) {
    throw new UsageError('This section starts two PostgreSQL servers of its own, from /usr/lib/postgresql')
  }
  const undo: (() => unknown)[] = []
  const keep = <Part>(part: Part, end: (part: Part) => unknown): Part => {
    undo.push(() => end(part))
    return part
  }
  try {
    const original = keep(await startPostgres(binaries), ({ remove }) => remove())
    const filled = await withClient(original.url, async (client) => {
      await migrateToLatest(client)
      await installPreparedStatements(client, await toStatementFunctions(split.statements))
      return fill(client)
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
    const places = {
      primary: neon(pools.primary),
      replica: neon(pools.replica),
      counter: upstash(redis, BINDINGS.UPSTASH_REDIS_REST_TOKEN),
    }
    const reach = async () => keep(await openReach(places), ({ egress }) => egress.close())
    const reaches = { primary: await reach(), split: await reach(), replica: await reach() }
    const running = keep(
      await runDirect(
        WORKERS.map((name) => ({
          name,
          code: readFileSync(join(folder, name === 'split' ? 'split.js' : `${SERVICE}.js`), 'utf8'),
          bindings: { ...BINDINGS, REPLICA_URL, ...(name === 'replica' && { DATABASE_URL: REPLICA_URL }) },
          egress: reaches[name].egress.service,
        })),
      ),
      ({ close }) => close(),
    )
    const arranged = async (name: Way): Promise<Arranged> => ({
      ...reaches[name],
      url: await running.urlOf(name),
    })
    const workers = {
      primary: await arranged('primary'),
      split: await arranged('split'),
      replica: await arranged('replica'),
    }
    return await withClient(original.url, (primary) =>
      withClient(copy.url, (replica) => work({ primary, replica, workers, pid: running.pid }, filled)),
    )
  } finally {
    for (const step of undo.reverse()) await step()
  }
}
