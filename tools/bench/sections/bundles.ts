import { readFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { Miniflare } from 'miniflare'
import { Pool } from 'undici'
import { bundle } from '../../../bundle/bundle.ts'
import { readWranglerConfig } from '../../../bundle/wrangler-config.ts'
import { BINDINGS } from '../../../emulator/workers/bindings.ts'
import { mintApiKey } from '../../../lib/api-key.ts'
import { gzipLimit } from '../../../test/support/bundle-limit.ts'
import { figure, type Section } from '../section.ts'
import { alternate, median, timed } from '../timing.ts'

const WARM_REQUESTS = 5
const EMPTY = 'empty'

/** Loads a Worker into the isolate that the request names, and forwards the request to it. */
const LOADER = `export default {
  fetch(request, env) {
    const [worker, isolate] = JSON.parse(request.headers.get('X-Isolate'))
    const loaded = env.LOADER.get(worker + ' ' + isolate, () => ({
      compatibilityDate: env.COMPATIBILITY_DATE,
      mainModule: 'main.js',
      modules: { 'main.js': env[worker] },
      env: JSON.parse(env.BINDINGS),
    }))
    return loaded.getEntrypoint().fetch(request)
  }
}`

/** Neon finds no key, and Upstash counts one request. */
const RESPONSES: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['api.neon.test', { fields: [], rows: [], rowCount: 0, command: 'SELECT', rowAsArray: true }],
  ['local.upstash.test', { result: [99, 0, 100] }],
])

type Start = { readonly cold: number; readonly warm: number }

/** The size of each Worker, and the time of the first request to a new isolate. */
export const section: Section = async ({ sized, report }) => {
  const bundles = await bundle()
  const { compatibilityDate, workers } = await readWranglerConfig()
  const paths = new Map([[EMPTY, '/']])
  const codes: Record<string, string> = { [EMPTY]: 'export default { fetch: () => new Response() }' }
  for (const { name, main, route } of workers) {
    if (route === undefined) continue
    paths.set(name, route.replaceAll('*', '').replace(/\/$/, '/openapi.json'))
    codes[name] = await readFile(new URL(`../../../${main}`, import.meta.url), 'utf8')
  }
  const runtime = new Miniflare({
    host: '127.0.0.1',
    port: 0,
    cf: false,
    handleRuntimeStdio: (...streams: Readable[]) => {
      for (const stream of streams) stream.resume()
    },
    modules: true,
    script: LOADER,
    compatibilityDate,
    workerLoaders: { LOADER: {} },
    bindings: { ...codes, COMPATIBILITY_DATE: compatibilityDate, BINDINGS: JSON.stringify(BINDINGS) },
    outboundService: async (request: Request) => Response.json(RESPONSES.get(new URL(request.url).host)),
  })
  const pool = new Pool((await runtime.ready).origin, { connections: 1 })
  const key = mintApiKey()
  let isolates = 0
  const start = (name: string, path: string) => async (): Promise<Start> => {
    isolates += 1
    const headers = { 'X-Isolate': JSON.stringify([name, isolates]), 'X-API-Key': key }
    const send = async () => {
      const { statusCode, body } = await pool.request({ path, method: 'GET', headers })
      await body.arrayBuffer()
      if (statusCode !== 200 && statusCode !== 401) throw new Error(`${name} returned ${statusCode}`)
    }
    const cold = await timed(send)
    const warm: number[] = []
    for (let request = 0; request < WARM_REQUESTS; request += 1) warm.push(await timed(send))
    return { cold, warm: median(warm) }
  }
  report('new isolates')
  const rounds = Math.max(5, Math.round(sized(15)))
  const starts = [...paths].map(([name, path]) => [name, start(name, path)] as const)
  const measured = await alternate<Start>(Object.fromEntries(starts), rounds).finally(async () => {
    await pool.close()
    await runtime.dispose()
  })
  const cold = (name: string) => measured(name, ({ cold }) => cold)
  const warm = (name: string) => measured(name, ({ warm }) => warm)
  return [
    {
      title: 'Size and first request of each Worker',
      columns: [
        'Worker',
        'bytes',
        'gzip',
        'gzip, of its limit',
        'first request, warm = 1',
        'first request, empty Worker = 1',
      ],
      rows: bundles.map(({ name, bytes, gzip }) => [
        name,
        bytes,
        gzip,
        gzip / gzipLimit(name),
        ...(paths.has(name) ? [cold(name) / warm(name), cold(name) / cold(EMPTY)] : ['', '']),
      ]),
      note: `First request: compiling the bundle, running its global scope, and a request with an unknown key, which Neon and Upstash answer at once. The empty Worker takes ${figure(cold(EMPTY))} ms, warm ${figure(warm(EMPTY))} ms. Medians of ${rounds} new isolates and ${WARM_REQUESTS} warm requests to each.`,
    },
  ]
}
