import { setTimeout as delay } from 'node:timers/promises'
import { type Egress, startEgress } from '../../emulator/workers/egress.ts'
import { outbound } from '../../emulator/workers/outbound.ts'

/** What a Worker asks. */
export type Place = 'primary' | 'replica' | 'counter'

/** Something for each place: milliseconds to it, or the requests that it was sent. */
export type EachPlace = Record<Place, number>

/** An outlet from which each place is as far as it is said to be, and which counts the trips there. */
export type Reach = {
  readonly distances: EachPlace
  readonly trips: EachPlace
  readonly egress: Egress
}

type Handler = (request: Request) => Promise<Response>

/** The first label of the host in the replica's connection string. */
export const REPLICA = 'ep-replica'

/** Opens an outlet to two databases, told apart by the host of the connection string, and a counter. */
export async function openReach(places: Readonly<Record<Place, Handler>>): Promise<Reach> {
  const distances: EachPlace = { primary: 0, replica: 0, counter: 0 }
  const trips: EachPlace = { primary: 0, replica: 0, counter: 0 }
  const travel = async (place: Place, request: Request): Promise<Response> => {
    trips[place] += 1
    if (distances[place] > 0) await delay(distances[place])
    return places[place](request)
  }
  const answer = outbound({
    handlers: {
      neon: (request) => travel(isReplica(request) ? 'replica' : 'primary', request),
      upstash: (request) => travel('counter', request),
    },
    trips: { neon: 0, upstash: 0 },
    latencyMs: 0,
  })
  return { distances, trips, egress: await startEgress(answer) }
}

const isReplica = (request: Request): boolean =>
  request.headers.get('Neon-Connection-String')?.includes(`@${REPLICA}.`) === true
