import { setTimeout as delay } from 'node:timers/promises'

/** The two servers that Workers ask. */
export type Service = 'neon' | 'upstash'

/**
 * Answers a request to one of the servers itself, or leaves it to the emulator by giving undefined. `genuine` is
 * what the emulator would have answered; a rejection, and a body that fails, break the connection off.
 */
export type Intercept = (
  service: Service,
  request: Request,
  genuine: () => Promise<Response>,
) => Promise<Response | undefined> | undefined

/** How many requests went to each server since the start. */
export type Trips = Record<Service, number>

/** Neon's client asks the host of DATABASE_URL with "api" for its first label. */
const SERVICES: ReadonlyMap<string, Service> = new Map([
  ['api.neon.test', 'neon'],
  ['local.upstash.test', 'upstash'],
])

interface Outbound {
  handlers: Record<Service, (request: Request) => Promise<Response>>
  trips: Trips
  latencyMs: number
  intercept?: Intercept | undefined
}

/** Where every request that a Worker sends ends up: at one of the two servers or nowhere, as nothing leaves the machine. */
export function outbound({ handlers, trips, latencyMs, intercept }: Outbound) {
  return async (request: Request): Promise<Response> => {
    const { host } = new URL(request.url)
    const service = SERVICES.get(host)
    if (service === undefined) {
      return new Response(`The emulator lets nothing out, and ${host} is not part of it.`, { status: 502 })
    }
    trips[service]++
    if (latencyMs > 0) await delay(latencyMs)
    const genuine = () => handlers[service](request)
    return (await intercept?.(service, request, genuine)) ?? genuine()
  }
}
