import { setTimeout as delay } from 'node:timers/promises'
import { bundle } from '../bundle/bundle.ts'
import { neon } from './neon/handler.ts'
import { openPools } from './neon/pools.ts'
import { assertFree } from './port.ts'
import { startEmbeddedPostgres } from './postgres/embedded.ts'
import { upstash } from './upstash/handler.ts'
import { connectRedis, embeddedRedis, type RedisBackend } from './upstash/redis.ts'
import { BINDINGS, variables } from './workers/bindings.ts'
import { scheduleCrons } from './workers/crons.ts'
import { startEgress } from './workers/egress.ts'
import { type Intercept, outbound, type Trips } from './workers/outbound.ts'
import { startWorkers } from './workers/workers.ts'

/** What startEmulator is told; only the address is needed. */
export interface EmulatorOptions {
  /** 127.0.0.1 unless the service should be reachable from elsewhere. */
  host: string
  /** 0 takes any that is free. */
  port: number
  /** A Postgres that is migrated already; without it an empty one starts inside this process. */
  databaseUrl?: string | undefined
  /** A Redis server; without it a store inside this process. */
  redisUrl?: string | undefined
  /** How much later each Neon and Upstash request is answered. */
  latencyMs?: number | undefined
  /** Where a debugger reaches the Workers, 0 for any port that is free; nowhere unless said so. */
  inspectorPort?: number | undefined
  /** Bindings of every Worker, over the emulator's own. */
  vars?: Record<string, string> | undefined
  /** Whether the cron triggers fire; true unless said otherwise. */
  crons?: boolean | undefined
  /** Whether dist/ is written first; true unless said otherwise. */
  bundle?: boolean | undefined
  /** For faults: answers a Neon or Upstash request instead of the emulator, or returns undefined to let it pass. */
  intercept?: Intercept | undefined
  /** Hears each line that a Worker logs. */
  onLog?: ((line: string) => void) | undefined
}

/** The running service. */
export interface Emulator {
  /** Its address, without a slash at the end. */
  url: string
  /** The Postgres behind it, for `pg` or psql. */
  databaseUrl: string
  /** Where a debugger reaches the Workers. */
  inspectorUrl: string | undefined
  /** Sends a command to the Redis behind it. */
  redis: RedisBackend['send']
  /** Runs a Worker's scheduled handler now; rejects when it fails. */
  runCron(worker: string): Promise<void>
  /** How many requests Workers have sent since the start. */
  trips(): Trips
  close(): Promise<void>
}

/** Starts every Worker of wrangler.toml in one runtime, with Neon and Upstash answered by this process. */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  await assertFree(options.host, options.port)
  const undo: (() => unknown)[] = []
  const keep = async <Part>(start: Part | Promise<Part>, end: (part: Part) => unknown): Promise<Part> => {
    const part = await start
    undo.push(() => end(part))
    return part
  }
  const close = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const starts = [
      options.databaseUrl ?? keep(startEmbeddedPostgres(), ({ stop }) => stop()).then(({ url }) => url),
      keep(options.redisUrl ? connectRedis(options.redisUrl) : embeddedRedis(), ({ close }) => close()),
      options.bundle === false ? undefined : bundle(),
    ] as const
    // One that fails must not leave another behind that starts later.
    await Promise.allSettled(starts)
    const [databaseUrl, redis] = await Promise.all(starts)
    // The embedded server has one session, whose rights cannot change from one statement to the next.
    const pools = openPools(databaseUrl, { roles: options.databaseUrl !== undefined })
    // A server that has gone silent must not keep the emulator from closing.
    undo.push(() => Promise.race([pools.end(), delay(1_000, undefined, { ref: false })]))

    // What the Workers do while they warm up is not counted, not logged, and no fault's business.
    let serving = false
    const trips: Trips = { neon: 0, upstash: 0 }
    const bindings = { ...BINDINGS, ...variables(process.env), ...options.vars }
    const egress = await keep(
      startEgress(
        outbound({
          handlers: { neon: neon(pools), upstash: upstash(redis, bindings.UPSTASH_REDIS_REST_TOKEN) },
          trips,
          latencyMs: options.latencyMs ?? 0,
          intercept: (...asked) => (serving ? options.intercept?.(...asked) : undefined),
        }),
      ),
      ({ close }) => close(),
    )
    const workers = await startWorkers({
      host: options.host,
      port: options.port,
      inspectorPort: options.inspectorPort,
      bindings,
      outbound: egress.service,
      onLog: (line) => {
        if (serving) options.onLog?.(line)
      },
    })
    undo.push(workers.close)
    trips.neon = trips.upstash = 0
    serving = true
    if (options.crons !== false) undo.push(scheduleCrons(workers.crons, workers.runCron))
    return {
      url: workers.url,
      databaseUrl,
      inspectorUrl: workers.inspectorUrl,
      redis: redis.send,
      runCron: workers.runCron,
      trips: () => ({ ...trips }),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
