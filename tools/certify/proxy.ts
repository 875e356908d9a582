import { BASE } from '../../lib/app.ts'
import { readStreams } from '../../reference/streams.ts'
import { type ProxyFault, startHttpProxy } from '../../test/faults/http-proxy.ts'

/** A fault of a request, or null. `only: 'metrics'` passes on all but metrics. */
export type Fault = null | 'dropped' | 'cut' | (Exclude<ProxyFault, string> & { readonly only?: 'metrics' })

/** How much one run sent. */
export type Traffic = { requests: number }

const METRICS = readStreams().flatMap(({ kind, endpoint }) =>
  kind === 'metric' ? `${BASE}/${endpoint}` : [],
)

/** A timer may fire this much before its time. */
const TOLERANCE_MS = 50

/** Starts a proxy in front of the service that meets requests with faults, in the order in which they arrive. */
export async function startProxy(service: string) {
  let faults: Fault[] = []
  let beforeSecondPage = async (): Promise<void> => {}
  let traffic: Traffic = { requests: 0 }
  const agents = new Set<string>()
  const early = new Set<string>()
  /** When a request may be sent again. */
  const notBefore = new Map<string, number>()

  const { url, close } = await startHttpProxy(service, async ({ url: target = '', headers }) => {
    const { pathname, searchParams } = new URL(target, service)
    traffic.requests += 1
    agents.add(headers['user-agent'] ?? '')
    const remaining = (notBefore.get(target) ?? 0) - performance.now()
    if (remaining > TOLERANCE_MS) early.add(`${pathname}, ${(remaining / 1000).toFixed(1)} s early`)

    if (METRICS.includes(pathname) && searchParams.get('cursor')) await beforeSecondPage()
    const fault = faults.shift() ?? null
    if (typeof fault !== 'object' || fault === null) return fault
    if (fault.only && !METRICS.includes(pathname)) return null
    if (fault.retryAfter !== undefined) notBefore.set(target, performance.now() + fault.retryAfter * 1000)
    return fault
  })
  return {
    url,
    /** User-Agents of all runs. */
    agents,
    /** Requests of all runs that were sent again too early. */
    early,
    /** Prepares for a run; `before` runs before each later page of a metric. Returns what that run sends, as it is counted. */
    begin: (meets: readonly Fault[] = [], before = async (): Promise<void> => {}): Traffic => {
      faults = [...meets]
      beforeSecondPage = before
      notBefore.clear()
      traffic = { requests: 0 }
      return traffic
    },
    close,
  }
}
