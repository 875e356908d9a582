import { setTimeout as delay } from 'node:timers/promises'

/** The two servers that Workers send requests to. */
export type Service = 'neon' | 'upstash'

/**
 * Answers a request instead of the emulator, or returns undefined to let it pass. `genuine` gives the emulator's own
 * response. A rejection, or a body that fails, breaks the connection.
 */
export type Intercept = (
  service: Service,
  request: Request,
  genuine: () => Promise<Response>,
) => Promise<Response | undefined> | undefined

/** How many requests went to each server. */
export type Subrequests = Record<Service, number>

/** Neon's client replaces the first label of DATABASE_URL's host with "api". */
const SERVICES: ReadonlyMap<string, Service> = new Map([
  ['api.neon.test', 'neon'],
  ['local.upstash.test', 'upstash'],
])

/** The reference page of the demo sends requests to it (`demo-page-worker.mjs`). */
const DEMO_HOST = 'demo.test'

interface Outbound {
  handlers: Record<Service, (request: Request) => Promise<Response>>
  /** Counted up with each request. */
  subrequests: Subrequests
  latencyMs: number
  /** Changes the past of the demo: requests to {@link DEMO_HOST} ask for it. */
  restate: (() => Promise<readonly string[]>) | undefined
  intercept?: Intercept | undefined
}

/** Routes a Worker's request to Neon or Upstash by its host. Any other host is 502: nothing leaves the machine. */
export function outbound({ handlers, subrequests, latencyMs, restate, intercept }: Outbound) {
  return async (request: Request): Promise<Response> => {
    const { host } = new URL(request.url)
    if (host === DEMO_HOST && restate) return Response.json(await restate())
    const service = SERVICES.get(host)
    if (service === undefined) {
      return new Response(`The emulator does not send requests to ${host}.`, { status: 502 })
    }
    subrequests[service]++
    if (latencyMs > 0) await delay(latencyMs)
    const genuine = () => handlers[service](request)
    return (await intercept?.(service, request, genuine)) ?? genuine()
  }
}
