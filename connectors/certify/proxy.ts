import type { IncomingMessage } from 'node:http'
import { BASE } from '../../lib/http/app.ts'
import { readStreams } from '../../site/reference/streams.ts'
import { type ProxyFault, startFaultProxy } from './fault-proxy.ts'

/** What happens to the next request, or to the next one if it is of a metric. */
export type Fault = ProxyFault | { readonly ofMetric: ProxyFault } | null

/** A request during which something happens: a later page of a metric, or a list of the changes of all brands. */
export type Watched = 'later page' | 'all changes'

/** What happens before and after each request of a kind. */
export type Watch = {
  readonly request: Watched
  readonly before: () => Promise<unknown>
  readonly after: () => Promise<unknown>
}

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
  let watch: Watch | undefined
  let traffic: Traffic = { requests: 0 }
  const agents = new Set<string>()
  const early = new Set<string>()
  let hasRetried = false
  /** When a request may be sent again. */
  const notBefore = new Map<string, number>()

  async function meet({ url: target = '', headers }: IncomingMessage): Promise<ProxyFault | null> {
    const { pathname } = new URL(target, service)
    traffic.requests += 1
    agents.add(headers['user-agent'] ?? '')
    const time = notBefore.get(target)
    hasRetried ||= time !== undefined
    const remaining = (time ?? 0) - performance.now()
    if (remaining > TOLERANCE_MS) early.add(`${pathname}, ${(remaining / 1000).toFixed(1)} s early`)

    if (watch && watch.request === watchedOf(target)) return watching(watch)
    const next = faults.shift() ?? null
    const isConditional = typeof next === 'object' && next !== null && 'ofMetric' in next
    if (isConditional && !METRICS.includes(pathname)) return null
    const fault = isConditional ? next.ofMetric : next
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
    begin: (meets: readonly Fault[] = [], watches?: Watch): Traffic => {
      faults = [...meets]
      watch = watches
      notBefore.clear()
      traffic = { requests: 0 }
      return traffic
    },
    close,
  }
}

/** Passes on a request between what happens before and after it. */
async function watching({ before, after }: Watch): Promise<ProxyFault> {
  await before()
  return {
    rewrite: async (body) => {
      await after()
      return body
    },
  }
}

/** Returns which kind of request it is that can be watched. */
function watchedOf(target: string): Watched | undefined {
  const { pathname, searchParams } = new URL(target, 'http://proxy')
  if (METRICS.includes(pathname) && searchParams.get('cursor')) return 'later page'
  return pathname === `${BASE}/changes` && !searchParams.has('brandId') ? 'all changes' : undefined
}
