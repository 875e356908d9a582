import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from '../../bundle/bundle.ts'
import { neon } from '../../emulator/neon/handler.ts'
import { openPools } from '../../emulator/neon/pools.ts'
import { upstash } from '../../emulator/upstash/handler.ts'
import { connectRedis, embeddedRedis } from '../../emulator/upstash/redis.ts'
import { BINDINGS } from '../../emulator/workers/bindings.ts'
import { startEgress } from '../../emulator/workers/egress.ts'
import { outbound, type Service } from '../../emulator/workers/outbound.ts'
import { type Running, runDirect } from './direct.ts'

const WAYS = fileURLToPath(new URL('./ways', import.meta.url))

/** The Workers that are compared. */
export type Workers = Running & {
  readonly names: readonly string[]
  /** Bytes of the last answer that came from Neon's stand-in. */
  readonly received: () => number
}

/** The service's own Worker among them. */
export const SERVICE = 'citation-share'

/** Starts the service's `citation-share` and each of `ways/`, with what they are told beside the emulator's bindings. */
export async function startWays(
  databaseUrl: string,
  redisUrl: string | undefined,
  toBudget: { readonly PAGE: string; readonly KEY: readonly string[] } = { PAGE: '', KEY: [] },
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
  const egress = await startEgress(async (request) => {
    const response = await answer(request)
    if (new URL(request.url).host.includes('neon')) {
      const body = await response.arrayBuffer()
      received = body.byteLength
      return new Response(body, response)
    }
    return response
  })
  const running = await runDirect(
    [SERVICE, ...names].map((name) => ({
      name,
      code: readFileSync(join(folder, `${name}.js`), 'utf8'),
      bindings: { ...BINDINGS, ...toBudget },
      egress: egress.service,
    })),
  )
  return {
    ...running,
    names,
    received: () => received,
    close: async () => {
      await running.close()
      await egress.close()
      await Promise.all([pools.end(), redis.close()])
      await rm(folder, { recursive: true })
    },
  }
}
