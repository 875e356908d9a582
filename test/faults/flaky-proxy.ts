import { startFaultProxy } from '../../connectors/certify/fault-proxy.ts'

/** What the proxy does to a request instead of passing on the service's response; a function runs before that. */
export type Fault = 'dropped' | 'cut' | 429 | 503 | (() => Promise<unknown>)

/** A proxy in front of the service. */
export type FlakyProxy = {
  readonly url: string
  /** The `User-Agent` of each request, by path and query. */
  readonly asked: Map<string, (string | undefined)[]>
  readonly close: () => Promise<void>
}

/** Starts a proxy. `faults` are those of the first page, of the second one, and so on: each page has its faults first. */
export async function startFlakyProxy(service: string, faults: readonly Fault[][] = []): Promise<FlakyProxy> {
  const asked = new Map<string, (string | undefined)[]>()
  const proxy = await startFaultProxy(service, async ({ url: target = '', headers }) => {
    const agents = asked.get(target) ?? []
    asked.set(target, agents)
    agents.push(headers['user-agent'])
    const fault = faults[[...asked.keys()].indexOf(target)]?.[agents.length - 1] ?? null
    if (typeof fault === 'function') {
      await fault()
      return null
    }
    // The service always says when to retry. A proxy in front of it may not.
    return typeof fault === 'number' ? { status: fault, retryAfter: fault === 429 ? 1 : undefined } : fault
  })
  return { ...proxy, asked }
}
