import type { Readable } from 'node:stream'
import { Miniflare } from 'miniflare'
import type { Egress } from '../../emulator/workers/egress.ts'
import { familyOf, programOf } from './cpu.ts'

/** A Worker, what it is told, and where everything ends up that it sends. */
export type Direct = {
  readonly name: string
  readonly code: string
  readonly bindings: Readonly<Record<string, string | readonly string[]>>
  readonly egress: Egress['service']
}

/** Workers that are asked directly. */
export type Running = {
  /** The process that runs them all. */
  readonly pid: number
  readonly urlOf: (name: string) => Promise<string>
  readonly close: () => Promise<void>
}

/** Runs Workers in one workerd, without a Worker of miniflare's between them and whoever asks. */
export async function runDirect(workers: readonly Direct[]): Promise<Running> {
  const miniflare = new Miniflare({
    cf: false,
    // What the service logs of each request is written, and read by nobody.
    handleRuntimeStdio: (...streams: Readable[]) => {
      for (const stream of streams) stream.resume()
    },
    workers: workers.map(({ name, code, bindings, egress }) => ({
      name,
      modules: [{ type: 'ESModule' as const, path: `${name}.js`, contents: code }],
      compatibilityDate: '2026-07-30',
      bindings: { ...bindings },
      outboundService: egress,
      unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
    })),
  })
  await miniflare.ready
  const pid = familyOf(process.pid).find((each) => programOf(each) === 'workerd')
  if (pid === undefined) throw new Error('The runtime’s process is not to be found')
  return {
    pid,
    urlOf: async (name) => (await miniflare.unsafeGetDirectURL(name)).origin,
    close: () => miniflare.dispose(),
  }
}
