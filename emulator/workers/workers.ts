import { randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { MiniflareOptions } from 'miniflare'
import { keptSecret } from '../../cli/local/private-file.ts'
import {
  byRoute,
  pathOf,
  readWorkers,
  readWranglerFile,
  type WorkerConfig,
  withOuterLimit,
  workersOf,
} from '../../cli/workers/wrangler-config.ts'
import type { BucketAccess } from '../running-service.ts'
import type { CronTrigger } from './crons.ts'
import { type DemoPage, withDemoPage } from './demo-page.ts'
import type { Egress } from './egress.ts'
import { createMiniflare } from './miniflare.ts'

const ROOT = new URL('../../', import.meta.url)

interface WorkersOptions {
  host: string
  port: number
  inspectorPort: number | undefined
  bindings: Record<string, string>
  /** Further bindings of the scheduled Workers. */
  scheduledBindings: Record<string, string>
  /** Requests a minute of an address and of a key; by default those of wrangler.toml. */
  outerLimit: number | undefined
  /** The folder of the buckets; without one they are in memory. */
  r2Folder: string | undefined
  demoPage: DemoPage | undefined
  /** Receives every subrequest. */
  outbound: Egress['service']
  onLog: (line: string) => unknown
}

/** All Workers, running. */
export interface Workers {
  url: string
  inspectorUrl: string | undefined
  bucket: BucketAccess
  crons: CronTrigger[]
  runCron(worker: string, scheduledTime?: Date): Promise<void>
  /** Runs what dist/ holds now. Rejects and keeps the previous bundles when workerd does not start the new ones. */
  reload(): Promise<void>
  close(): Promise<void>
}

/** Runs the bundles of dist/ in one workerd, each on its route of wrangler.toml. */
export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  const workers = await readWorkers()
  const bucket = bucketIn(options.r2Folder)
  let running = await miniflareOptions(options, bucket)
  const miniflare = createMiniflare(running)
  const url = await miniflare.ready
  await warmUp(url.origin, workers)
  return {
    url: url.origin,
    inspectorUrl:
      options.inspectorPort === undefined ? undefined : `http://${(await miniflare.getInspectorURL()).host}`,
    bucket: { url: `${url.origin}/cdn-cgi/local/r2/s3/${bucket.id}`, ...bucket.s3Credentials },
    crons: workers.flatMap(({ name, crons }) => crons.map((pattern) => ({ worker: name, pattern }))),
    runCron: async (name, scheduledTime) => {
      // miniflare's type lacks `scheduled`.
      const worker: object = await miniflare.getWorker(name)
      const scheduled: (options: { scheduledTime?: Date | undefined }) => Promise<{ outcome: string }> =
        Reflect.get(worker, 'scheduled')
      const { outcome } = await Reflect.apply(scheduled, worker, [{ scheduledTime }])
      if (outcome !== 'ok') throw new Error(`the scheduled handler ended with "${outcome}"`)
    },
    reload: async () => {
      const next = await miniflareOptions(options, bucket)
      try {
        await miniflare.setOptions(next)
        running = next
      } catch (error) {
        await miniflare.setOptions(running)
        throw error
      }
    },
    close: () => miniflare.dispose(),
  }
}

async function miniflareOptions(options: WorkersOptions, bucket: MiniflareBucket): Promise<MiniflareOptions> {
  const { host, port, inspectorPort, bindings, scheduledBindings, outerLimit, r2Folder, demoPage } = options
  const { outbound, onLog } = options
  const file = withOuterLimit(await readWranglerFile(), outerLimit)
  const guard = await readFile(new URL('./guard.mjs', import.meta.url), 'utf8')
  const workers = await Promise.all(
    workersOf(file)
      // miniflare sends requests that match no route to its first Worker.
      .toSorted(byRoute)
      .map(async ({ name, main, routes, crons, buckets, ratelimits }) => ({
        name,
        modules: [
          { type: 'ESModule' as const, path: 'guard.js', contents: guard },
          {
            type: 'ESModule' as const,
            path: 'worker.js',
            contents: await readFile(new URL(main, ROOT), 'utf8'),
          },
        ],
        compatibilityDate: file.compatibility_date,
        bindings: { ...bindings, ...(crons.length > 0 && scheduledBindings) },
        ratelimits: Object.fromEntries(ratelimits.map(({ name: binding, ...limit }) => [binding, limit])),
        r2Buckets: Object.fromEntries(buckets.map((binding) => [binding, bucket])),
        routes,
        outboundService: outbound,
      })),
  )
  return {
    host,
    port,
    ...(inspectorPort !== undefined && { inspectorPort }),
    r2Persist: r2Folder ?? false,
    // The default requests this machine's location from the network.
    cf: false,
    handleRuntimeStdio: (...streams: Readable[]) => {
      for (const input of streams) createInterface({ input }).on('line', onLog)
    },
    workers: demoPage ? await withDemoPage(workers, demoPage) : workers,
  }
}

/** Sends each Worker one request without a key, so that the first client does not wait for compilation. */
async function warmUp(origin: string, workers: WorkerConfig[]): Promise<void> {
  const paths = workers.flatMap(({ routes }) => routes.slice(0, 1).map(pathOf))
  await Promise.all(
    paths.map(async (path) => {
      const headers = { 'User-Agent': 'emulator' }
      const response = await fetch(origin + path, { headers })
      await response.arrayBuffer()
    }),
  )
}

/** The bucket of the share, as miniflare takes it. */
type MiniflareBucket = {
  readonly id: string
  readonly s3Credentials: { readonly accessKeyId: string; readonly secretAccessKey: string }
}

/**
 * Returns the bucket in `folder`, or a new one in memory. miniflare serves its objects to every client that knows its
 * id, so the id is a secret. The credentials of the S3 API are new at each start.
 */
function bucketIn(folder: string | undefined): MiniflareBucket {
  return {
    id: folder === undefined ? randomUUID() : keptId(folder),
    s3Credentials: { accessKeyId: randomUUID(), secretAccessKey: randomUUID() },
  }
}

/** Returns the id that names the objects in a folder. */
function keptId(folder: string): string {
  mkdirSync(folder, { recursive: true })
  // Its subfolders are named after the id.
  chmodSync(folder, 0o700)
  return keptSecret(join(folder, 'bucket-id'))
}
