import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { Miniflare, type MiniflareOptions } from 'miniflare'
import { readWorkers, readWranglerFile, type WorkerConfig, workersOf } from '../../bundle/wrangler-config.ts'
import { BUCKET_CREDENTIALS, SHARE_BUCKET } from './bindings.ts'
import type { CronTrigger } from './crons.ts'
import type { Egress } from './egress.ts'

const ROOT = new URL('../../', import.meta.url)

interface WorkersOptions {
  host: string
  port: number
  inspectorPort: number | undefined
  bindings: Record<string, string>
  /** Further bindings of the scheduled Workers. */
  scheduledBindings: Record<string, string>
  /** The folder of the buckets; without one they are in memory. */
  r2Folder: string | undefined
  /** Receives every subrequest. */
  outbound: Egress['service']
  onLog: (line: string) => unknown
}

/** All Workers, running. */
export interface Workers {
  url: string
  inspectorUrl: string | undefined
  crons: CronTrigger[]
  runCron(worker: string, scheduledTime?: Date): Promise<void>
  /** Runs what dist/ holds now. Rejects and keeps the previous bundles when workerd does not start the new ones. */
  reload(): Promise<void>
  close(): Promise<void>
}

/** Runs the bundles of dist/ in one workerd, each on its route of wrangler.toml. */
export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  const workers = await readWorkers()
  let running = await miniflareOptions(options)
  const miniflare = new Miniflare(running)
  const url = await miniflare.ready
  await warmUp(miniflare, workers)
  return {
    url: url.origin,
    inspectorUrl:
      options.inspectorPort === undefined ? undefined : `http://${(await miniflare.getInspectorURL()).host}`,
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
      const next = await miniflareOptions(options)
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

async function miniflareOptions(options: WorkersOptions): Promise<MiniflareOptions> {
  const { host, port, inspectorPort, bindings, scheduledBindings, r2Folder, outbound, onLog } = options
  const file = await readWranglerFile()
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
    workers: await Promise.all(
      workersOf(file)
        .toSorted(shortestRouteFirst)
        .map(async ({ name, main, route, crons, buckets }) => ({
          name,
          modules: [
            { type: 'ESModule' as const, path: main, contents: await readFile(new URL(main, ROOT), 'utf8') },
          ],
          compatibilityDate: file.compatibility_date,
          bindings: { ...bindings, ...(crons.length > 0 && scheduledBindings) },
          r2Buckets: Object.fromEntries(
            buckets.map((binding) => [binding, { id: SHARE_BUCKET, s3Credentials: BUCKET_CREDENTIALS }]),
          ),
          routes: route === undefined ? [] : [route],
          outboundService: outbound,
        })),
    ),
  }
}

/** Sends each Worker one request without a key, so that the first client does not wait for compilation. */
async function warmUp(miniflare: Miniflare, workers: WorkerConfig[]): Promise<void> {
  const paths = workers.flatMap(({ route }) => (route === undefined ? [] : [route.replaceAll('*', '')]))
  await Promise.all(
    paths.map(async (path) => {
      const headers = { 'User-Agent': 'emulator' }
      const response = await miniflare.dispatchFetch(`http://localhost${path}`, { headers })
      await response.arrayBuffer()
    }),
  )
}

/** miniflare sends requests that match no route to its first Worker: the one with the catch-all route. */
const shortestRouteFirst = (a: WorkerConfig, b: WorkerConfig): number => routeLength(a) - routeLength(b)

const routeLength = ({ route }: WorkerConfig): number => route?.length ?? Number.POSITIVE_INFINITY
