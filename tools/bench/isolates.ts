import { readFile } from 'node:fs/promises'
import { Miniflare } from 'miniflare'
import { Pool } from 'undici'
import { readWranglerConfig } from '../../bundle/wrangler-config.ts'
import { BINDINGS } from '../../emulator/workers/bindings.ts'
import { mintApiKey } from '../../lib/api-key.ts'

/** A Worker with a path, and how to ask it in an isolate of a given number: a new number is a new isolate. */
export type Loaded = {
  readonly name: string
  readonly ask: (isolate: number) => Promise<number>
}

/** What is compared with: a Worker that does nothing. */
export const EMPTY = 'empty'

/** Loads the code that is asked for into an isolate that the caller names, and passes the request on. */
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

/** Neon finds no such key, and Upstash has counted one request: both answer at once. */
const ANSWERS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['api.neon.test', { fields: [], rows: [], rowCount: 0, command: 'SELECT', rowAsArray: true }],
  ['local.upstash.test', { result: [1, 100] }],
])

/** Runs work with a runtime that makes isolates on demand, of the bundles in dist/ that have a path. */
export async function withIsolates<Result>(
  work: (workers: readonly Loaded[]) => Promise<Result>,
): Promise<Result> {
  const { compatibilityDate, workers } = await readWranglerConfig()
  const routed = workers.flatMap(({ name, main, route }) =>
    route === undefined ? [] : [{ name, main, route }],
  )
  const codes = await Promise.all(
    routed.map(async ({ name, main }) => [
      name,
      await readFile(new URL(`../../${main}`, import.meta.url), 'utf8'),
    ]),
  )
  const runtime = new Miniflare({
    host: '127.0.0.1',
    port: 0,
    cf: false,
    modules: true,
    script: LOADER,
    compatibilityDate,
    workerLoaders: { LOADER: {} },
    bindings: {
      ...Object.fromEntries(codes),
      [EMPTY]: 'export default { fetch: () => new Response() }',
      COMPATIBILITY_DATE: compatibilityDate,
      BINDINGS: JSON.stringify(BINDINGS),
    },
    outboundService: async (request: Request) => Response.json(ANSWERS.get(new URL(request.url).host)),
  })
  const pool = new Pool((await runtime.ready).origin, { connections: 1 })
  const key = mintApiKey()
  const ask = (name: string, path: string) => async (isolate: number) => {
    const headers = { 'X-Isolate': JSON.stringify([name, isolate]), 'X-API-Key': key }
    const { statusCode, body } = await pool.request({ path, method: 'GET', headers })
    await body.arrayBuffer()
    return statusCode
  }
  try {
    return await work([
      { name: EMPTY, ask: ask(EMPTY, '/') },
      ...routed.map(({ name, route }) => ({ name, ask: ask(name, pathOf(route)) })),
    ])
  } finally {
    await pool.close()
    await runtime.dispose()
  }
}

/** The path of a route; the description is behind the one that all others begin with. */
const pathOf = (route: string): string => route.replaceAll('*', '').replace(/\/$/, '/openapi.json')
