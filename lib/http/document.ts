import type { App } from '../request/context.ts'
import { endpoint } from './endpoint.ts'

/** What the app reads of an OpenAPI document. */
type Description = { readonly externalDocs: { readonly url: string } }

/** Builds the app of the OpenAPI document, which needs no key. */
export function document({ path, description }: { path: string; description: Description }): App {
  return endpoint({
    path,
    rateLimit: { order: 'first' },
    handler: async ({ req }) => {
      // OpenAPI tools reject relative URLs, or resolve them against a file. A service can have several hosts.
      const { origin } = new URL(req.url)
      const externalDocs = { ...description.externalDocs, url: origin + description.externalDocs.url }
      const servers = [{ url: origin }]
      return { body: JSON.stringify({ ...description, externalDocs, servers }), cacheable: true }
    },
  })
}
