import type { IncomingMessage } from 'node:http'
import { BASE } from '../../lib/http/app.ts'
import { readStreams } from '../../site/reference/streams.ts'
import { type ProxyFault, startFaultProxy } from './fault-proxy.ts'

/** What happens to the next request, or to the next one if it is of a page of rows. */
export type Fault = ProxyFault | { readonly ofRows: ProxyFault } | null

/** What happens before a page of rows is sent, counted from 1. It and all later pages wait for it. */
export type Happening = { readonly page: number; readonly happen: () => Promise<unknown> }

/** How much one run sent. */
export type Traffic = { requests: number; pagesOfRows: number }

const METRICS = readStreams().flatMap(({ kind, endpoint }) => (kind === 'metric' ? endpoint : []))
const DAYS = 'days'

/** A timer may fire this much before its time. */
const TOLERANCE_MS = 50

/** Starts a proxy in front of the service that meets requests with faults, in the order in which they arrive. */
export async function startProxy(service: string) {
  let faults: Fault[] = []
  let happening: Happening | undefined
  let traffic: Traffic = { requests: 0, pagesOfRows: 0 }
  const agents = new Set<string>()
  const early = new Set<string>()
  let hasRetried = false
  /** When a request may be sent again. */
  const notBefore = new Map<string, number>()

  async function meet({ url: target = '', headers }: IncomingMessage): Promise<ProxyFault | null> {
    const { pathname } = new URL(target, service)
    const endpoint = pathname.replace(`${BASE}/`, '')
    traffic.requests += 1
    agents.add(headers['user-agent'] ?? '')
    const time = notBefore.get(target)
    hasRetried ||= time !== undefined
    const remaining = (time ?? 0) - performance.now()
    if (remaining > TOLERANCE_MS) early.add(`${pathname}, ${(remaining / 1000).toFixed(1)} s early`)

    const isOfRows = endpoint === DAYS || METRICS.includes(endpoint)
    if (isOfRows) traffic.pagesOfRows += 1
    if (isOfRows && happening && traffic.pagesOfRows >= happening.page) await happening.happen()
    const next = faults.shift() ?? null
    const isConditional = typeof next === 'object' && next !== null && 'ofRows' in next
    if (isConditional && !isOfRows) return null
    const fault = isConditional ? next.ofRows : next
    if (typeof fault === 'object' && fault !== null && 'status' in fault && fault.retryAfter !== undefined)
      notBefore.set(target, performance.now() + fault.retryAfter * 1000)
    return fault
  }

  const { url, close } = await startFaultProxy(service, meet)
  return {
    url,
    /** User-Agents of all runs. */
    agents,
    /** Requests of all runs that were sent again too early. */
    early,
    /** Returns whether a run has sent a request again after `Retry-After`, or too early. */
    hasRetried: () => hasRetried,
    /** Prepares for a run. Returns what that run sends, as it is counted. */
    begin: (meets: readonly Fault[] = [], happens?: Happening): Traffic => {
      faults = [...meets]
      happening = happens
      notBefore.clear()
      traffic = { requests: 0, pagesOfRows: 0 }
      return traffic
    },
    close,
  }
}
