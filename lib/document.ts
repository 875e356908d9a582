import { endpoint } from './endpoint.ts'
import { type Entity, encodeWithEtag } from './etag.ts'
import type { Worker } from './worker.ts'

/** An endpoint that answers everybody with one fixed JSON text: the path, the method and the rate budget are its only gates. */
export function document({ path, body }: { path: string; body: string }): Worker {
  let entity: Entity | undefined
  return endpoint({
    path,
    budget: 'before',
    answer: async () => {
      // Kept when it is done, and not while it is made: no request waits for another's promise.
      entity ??= await encodeWithEtag(body)
      return { body, entity, cacheable: true }
    },
  })
}
