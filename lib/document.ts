import type { App } from './app.ts'
import { endpoint } from './endpoint.ts'
import { type Encoded, encodeWithEtag } from './etag.ts'

/** Builds the app of a fixed JSON text that needs no key. */
export function document({ path, body }: { path: string; body: string }): App {
  let encoded: Encoded | undefined
  return endpoint({
    path,
    budget: { order: 'first' },
    handler: async () => {
      // Stores the value and not its promise: a request must not wait for another request's promise.
      encoded ??= await encodeWithEtag(body)
      return { body, encoded, cacheable: true }
    },
  })
}
