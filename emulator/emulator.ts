import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { bundle } from '../cli/workers/bundle.ts'
import { isLoopback } from '../lib/http/app.ts'
import { imitateNeon } from './neon/imitation.ts'
import { startProxy } from './network.ts'
import { startEmbeddedPostgres } from './postgres/embedded.ts'
import type { BucketAccess } from './running-service.ts'
import { upstash } from './upstash/handler.ts'
import { connectRedis, embeddedRedis, type RedisBackend } from './upstash/redis.ts'
import { BINDINGS, connectionStrings, variables } from './workers/bindings.ts'
import { scheduleCrons } from './workers/crons.ts'
import type { DemoPage } from './workers/demo-page.ts'
import { startEgress } from './workers/egress.ts'
import { type Intercept, outbound, type Subrequests } from './workers/outbound.ts'
import { startWorkers } from './workers/workers.ts'

/** An outer limit that work of many requests does not reach. */
export const NO_OUTER_LIMIT = 1_000_000

/** Only `host` and `port` are required. */
export interface EmulatorOptions {
  /** Other machines reach a host that is not loopback, and only its Workers. */
  host: string
  /** Whether a loopback host serves all host names too, as a proxy or a container sends them. */
  allowNetwork?: boolean | undefined
  /** 0 for any free port. */
  port: number
  /** A migrated Postgres. Without it an empty one starts in this process. */
  databaseUrl?: string | undefined
  /** A Redis server. Without it the store is in this process. */
  redisUrl?: string | undefined
  /** Delay of every Neon and Upstash response. */
  latencyMs?: number | undefined
  /** The inspector's port, 0 for any free port. Without it there is no inspector. */
  inspectorPort?: number | undefined
  /** Bindings of every Worker; they override the emulator's own. */
  vars?: Record<string, string> | undefined
  /** Requests a minute of an address and of a key. Default: those of wrangler.toml. */
  outerLimit?: number | undefined
  /** The folder of the share's bucket. Without it the bucket is in memory. */
  r2Folder?: string | undefined
  /** What the reference page has of the demo. */
  demoPage?: DemoPage | undefined
  /** Whether cron triggers fire. Default: true. */
  crons?: boolean | undefined
  /** Whether dist/ is built first. Default: true. */
  bundle?: boolean | undefined
  /** Injects faults: answers a Neon or Upstash request, or returns undefined to let it pass. */
  intercept?: Intercept | undefined
  /** Receives each line that a Worker logs. */
  onLog?: ((line: string) => void) | undefined
}

/** The running service. */
export interface Emulator {
  /** Without a trailing slash. */
  url: string
  databaseUrl: string
  inspectorUrl: string | undefined
  /** The bucket of the share. Only this machine reaches it. */
  bucket: BucketAccess
  /** Sends a command to Redis. */
  redis: RedisBackend['send']
  /** Runs a Worker's scheduled handler now, as of a time when given; rejects when it fails. */
  runCron(worker: string, scheduledTime?: Date): Promise<void>
  /** How many requests Workers have sent since the start. */
  subrequests(): Subrequests
  /** Runs the bundles that are in dist/ now, on the same port; rejects and keeps the previous ones when they do not start. */
  reload(): Promise<void>
  close(): Promise<void>
}

type Closable = { readonly close: () => unknown }

/** Starts every Worker of wrangler.toml in one workerd. This process answers as Neon and Upstash. */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  const closers: (() => unknown)[] = []
  const closeLater = async <Part extends Closable>(start: Part | Promise<Part>): Promise<Part> => {
    const part = await start
    closers.push(part.close)
    return part
  }
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end()
  }
  try {
    const starts = [
      options.databaseUrl ?? closeLater(startEmbeddedPostgres()).then(({ url }) => url),
      closeLater(options.redisUrl ? connectRedis(options.redisUrl) : embeddedRedis()),
      options.bundle === false ? undefined : bundle(),
    ] as const
    // When one fails, the others must have registered their closers before close() runs.
    await Promise.allSettled(starts)
    const [databaseUrl, redis] = await Promise.all(starts)
    const { reader, refresher } = connectionStrings(databaseUrl)
    const bindings = {
      ...BINDINGS,
      DATABASE_URL: reader,
      CURSOR_SECRET: randomUUID(),
      ...variables(process.env),
      ...options.vars,
    }
    const neon = imitateNeon(databaseUrl, [bindings.DATABASE_URL, refresher])
    // A silent server must not block closing.
    closers.push(() => Promise.race([neon.close(), delay(1_000, undefined, { ref: false })]))

    // Warm-up requests are neither counted nor logged nor intercepted.
    let serving = false
    const subrequests: Subrequests = { neon: 0, upstash: 0 }
    const egress = await closeLater(
      startEgress(
        outbound({
          handlers: { neon: neon.handle, upstash: upstash(redis, bindings.UPSTASH_REDIS_REST_TOKEN) },
          subrequests,
          latencyMs: options.latencyMs ?? 0,
          restate: options.demoPage?.restate,
          intercept: (...request) => (serving ? options.intercept?.(...request) : undefined),
        }),
      ),
    )
    const { host, port } = options
    const isLocal = isLoopback(host) && !options.allowNetwork
    const workers = await closeLater(
      startWorkers({
        ...(isLocal ? { host, port } : { host: '127.0.0.1', port: 0 }),
        inspectorPort: options.inspectorPort,
        // Other machines reach the emulator without TLS.
        bindings: isLocal ? bindings : { ...bindings, ALLOW_HTTP: 'true' },
        outerLimit: options.outerLimit,
        scheduledBindings: { DATABASE_URL: refresher },
        r2Folder: options.r2Folder,
        demoPage: options.demoPage,
        outbound: egress.service,
        onLog: (line) => serving && options.onLog?.(line),
      }),
    )
    const { url } = isLocal ? workers : await closeLater(startProxy({ host, port, target: workers.url }))
    subrequests.neon = subrequests.upstash = 0
    serving = true
    if (options.crons !== false) closers.push(scheduleCrons(workers.crons, workers.runCron))
    const { inspectorUrl, bucket, runCron, reload } = workers
    const counts = () => ({ ...subrequests })
    return {
      url,
      databaseUrl,
      inspectorUrl,
      bucket,
      redis: redis.send,
      runCron,
      subrequests: counts,
      reload,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
