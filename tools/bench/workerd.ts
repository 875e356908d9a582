import { readFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { Miniflare } from 'miniflare'
import { bundle } from '../../bundle/bundle.ts'
import { imitateNeon } from '../../emulator/neon/imitation.ts'
import { upstash } from '../../emulator/upstash/handler.ts'
import { connectRedis, embeddedRedis } from '../../emulator/upstash/redis.ts'
import { BINDINGS, connectionStrings } from '../../emulator/workers/bindings.ts'
import { type Egress, startEgress } from '../../emulator/workers/egress.ts'
import { outbound } from '../../emulator/workers/outbound.ts'
import { workerdOf } from './cpu.ts'

/** A Worker in a workerd process of its own. */
export type RunningWorker = {
  readonly url: string
  readonly pid: number
  readonly close: () => Promise<void>
}

/** Runs a Worker that is reached directly, without a Worker of miniflare in front of it. */
export async function runWorker(
  code: string,
  { egress, bindings = BINDINGS }: { egress?: Egress; bindings?: Record<string, string> } = {},
): Promise<RunningWorker> {
  const others = new Set(workerdOf(process.pid))
  const miniflare = new Miniflare({
    name: 'worker',
    cf: false,
    handleRuntimeStdio: (...streams: Readable[]) => {
      for (const stream of streams) stream.resume()
    },
    modules: [{ type: 'ESModule', path: 'worker.js', contents: code }],
    compatibilityDate: '2026-07-30',
    bindings,
    ...(egress && { outboundService: egress.service }),
    unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
  })
  await miniflare.ready
  const pid = workerdOf(process.pid).find((each) => !others.has(each))
  if (pid === undefined) throw new Error('The workerd process was not found')
  const { origin: url } = await miniflare.unsafeGetDirectURL('worker')
  return { url, pid, close: () => miniflare.dispose() }
}

/** The service's Worker of `/citation-share`; `neon` describes its last request to Neon. */
export type Service = RunningWorker & {
  readonly neon: { sent: { query: string; params: unknown[] }; receivedBytes: number }
}

export async function startService(databaseUrl: string, redisUrl: string | undefined): Promise<Service> {
  await bundle()
  const code = await readFile(new URL('../../dist/citation-share.js', import.meta.url), 'utf8')
  const { reader } = connectionStrings(databaseUrl)
  const neon = imitateNeon({ databaseUrl, connectionStrings: [reader] })
  const redis = await (redisUrl ? connectRedis(redisUrl) : embeddedRedis())
  const last: Service['neon'] = { sent: { query: '', params: [] }, receivedBytes: 0 }
  const recorded = async (request: Request): Promise<Response> => {
    last.sent = await request.clone().json()
    const response = await neon.handle(request)
    const body = await response.arrayBuffer()
    last.receivedBytes = body.byteLength
    return new Response(body, response)
  }
  const egress = await startEgress(
    outbound({
      handlers: { neon: recorded, upstash: upstash(redis, BINDINGS.UPSTASH_REDIS_REST_TOKEN) },
      subrequests: { neon: 0, upstash: 0 },
      latencyMs: 0,
    }),
  )
  const worker = await runWorker(code, { egress, bindings: { ...BINDINGS, DATABASE_URL: reader } })
  return {
    ...worker,
    neon: last,
    close: async () => {
      await worker.close()
      await egress.close()
      await Promise.all([neon.close(), redis.close()])
    },
  }
}
