import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { Miniflare } from 'miniflare'
import { BINDINGS } from '../../emulator/bindings.ts'
import { bundle } from '../../emulator/bundle.ts'
import { neon } from '../../emulator/neon.ts'
import { outbound, type Service } from '../../emulator/outbound.ts'
import { openOutlet } from '../../emulator/outlet.ts'
import { openPools } from '../../emulator/pools.ts'
import { connectRedis, embeddedRedis } from '../../emulator/redis.ts'
import { upstash } from '../../emulator/upstash.ts'
import { familyOf, programOf } from './cpu.ts'

const WAYS = fileURLToPath(new URL('./ways', import.meta.url))

/** Workers by themselves: no Worker of miniflare's stands between them and whoever asks. */
export type Workers = {
  readonly names: readonly string[]
  /** The process that runs them all. */
  readonly pid: number
  /** Bytes of the last answer that came from Neon's stand-in. */
  readonly received: () => number
  readonly urlOf: (name: string) => Promise<string>
  readonly close: () => Promise<void>
}

/** The service's own Worker among them. */
export const SERVICE = 'citation-share'

/** Starts the service's `citation-share` and each of `ways/`, with what they are told beside the emulator's bindings. */
export async function startWays(
  databaseUrl: string,
  redisUrl: string | undefined,
  told: { readonly PAGE: string; readonly KEY: readonly string[] } = { PAGE: '', KEY: [] },
): Promise<Workers> {
  const folder = await mkdtemp(join(tmpdir(), 'ways-'))
  const service = fileURLToPath(new URL('../../functions', import.meta.url))
  const names = readdirSync(WAYS).map((file) => file.replace('.ts', ''))
  await bundle(WAYS, folder)
  await bundle(service, folder)
  const pools = openPools(databaseUrl, { roles: true })
  const redis = await (redisUrl ? connectRedis(redisUrl) : embeddedRedis())
  let received = 0
  const answer = outbound({
    handlers: { neon: neon(pools), upstash: upstash(redis, BINDINGS.UPSTASH_REDIS_REST_TOKEN) },
    trips: { neon: 0, upstash: 0 } satisfies Record<Service, number>,
    latencyMs: 0,
  })
  const outlet = await openOutlet(async (request) => {
    const response = await answer(request)
    if (new URL(request.url).host.includes('neon')) {
      const body = await response.arrayBuffer()
      received = body.byteLength
      return new Response(body, response)
    }
    return response
  })
  const miniflare = new Miniflare({
    cf: false,
    // What the service logs of each request is written, and read by nobody.
    handleRuntimeStdio: (...streams: Readable[]) => {
      for (const stream of streams) stream.resume()
    },
    workers: [SERVICE, ...names].map((name) => ({
      name,
      modules: [
        {
          type: 'ESModule' as const,
          path: `${name}.js`,
          contents: readFileSync(join(folder, `${name}.js`), 'utf8'),
        },
      ],
      compatibilityDate: '2026-07-30',
      bindings: { ...BINDINGS, ...told },
      outboundService: outlet.service,
      unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
    })),
  })
  await miniflare.ready
  const pid = familyOf(process.pid).find((each) => programOf(each) === 'workerd')
  if (pid === undefined) throw new Error('The runtime’s process is not to be found')
  return {
    names,
    pid,
    received: () => received,
    urlOf: async (name) => (await miniflare.unsafeGetDirectURL(name)).origin,
    close: async () => {
      await miniflare.dispose()
      await outlet.close()
      await Promise.all([pools.end(), redis.close()])
      await rm(folder, { recursive: true })
    },
  }
}
