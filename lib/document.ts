import type { App } from './context.ts'
import { endpoint } from './endpoint.ts'

/** What the app reads of an OpenAPI document. */
type Description = { readonly externalDocs: { readonly url: string } }

/** Builds the app of the OpenAPI document, which needs no key. */
export function document({ path, description }: { path: string; description: Description }): App {
  return endpoint({
    path,
    rateLimit: { order: 'first' },
    handler: async ({ req }) => {
      // OpenAPI tools reject a relative URL here, and a service can have several hosts.
      const url = new URL(description.externalDocs.url, req.url).href
      const externalDocs = { ...description.externalDocs, url }
      return { body: JSON.stringify({ ...description, externalDocs }), cacheable: true }
    },
  })
}
