import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { Miniflare } from 'miniflare'
import { readWranglerConfig, type WorkerConfig } from '../../bundle/wrangler-config.ts'
import { SCHEDULED_BINDINGS } from './bindings.ts'
import type { CronTrigger } from './crons.ts'
import type { Egress } from './egress.ts'

interface WorkersOptions {
  host: string
  port: number
  inspectorPort: number | undefined
  bindings: Record<string, string>
  /** Where every request goes that a Worker sends. */
  outbound: Egress['service']
  onLog: (line: string) => void
}

/** All Workers, running. */
export interface Workers {
  url: string
  inspectorUrl: string | undefined
  crons: CronTrigger[]
  runCron(worker: string): Promise<void>
  close(): Promise<void>
}

/** Runs the bundles of dist/ in one workerd, each at the route that wrangler.toml gives it. */
export async function startWorkers({
  host,
  port,
  inspectorPort,
  bindings,
  outbound,
  onLog,
}: WorkersOptions): Promise<Workers> {
  const config = await readWranglerConfig()
  const workers = config.workers.toSorted(broadestFirst)
  const miniflare = new Miniflare({
    host,
    port,
    ...(inspectorPort !== undefined && { inspectorPort }),
    // Otherwise it would ask the network where this machine is.
    cf: false,
    handleRuntimeStdio: (...streams: Readable[]) => {
      for (const input of streams) createInterface({ input }).on('line', onLog)
    },
    workers: await Promise.all(
      workers.map(async ({ name, main, route, crons }) => ({
        name,
        modules: [{ type: 'ESModule' as const, path: main, contents: await readFile(inRoot(main), 'utf8') }],
        compatibilityDate: config.compatibilityDate,
        bindings: { ...bindings, ...(crons.length > 0 && SCHEDULED_BINDINGS) },
        routes: route === undefined ? [] : [route],
        outboundService: outbound,
      })),
    ),
  })
  const url = await miniflare.ready
  await warmUp(miniflare, workers)
  return {
    url: url.origin,
    inspectorUrl:
      inspectorPort === undefined ? undefined : `http://${(await miniflare.getInspectorURL()).host}`,
    crons: workers.flatMap(({ name, crons }) => crons.map((pattern) => ({ worker: name, pattern }))),
    runCron: async (name) => {
      // Its type comes from a package that is not installed, and knows no such method.
      const worker: object = await miniflare.getWorker(name)
      const { outcome }: { outcome: string } = await Reflect.apply(
        Reflect.get(worker, 'scheduled'),
        worker,
        [],
      )
      if (outcome !== 'ok') throw new Error(`the scheduled handler ended with "${outcome}"`)
    },
    close: () => miniflare.dispose(),
  }
}

/** One request to each Worker, without a key: the first caller's is then served as fast as the second's. */
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

function inRoot(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url))
}

/** Requests that no route matches go to the first Worker, which has to be the one that answers for every path. */
function broadestFirst(a: WorkerConfig, b: WorkerConfig): number {
  return breadth(a) - breadth(b)
}

function breadth({ route }: WorkerConfig): number {
  return route?.length ?? Number.POSITIVE_INFINITY
}
