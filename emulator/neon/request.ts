import * as z from 'zod/mini'

/** Neon's default limit for requests and for responses. */
export const MAX_BYTES = 10 * 1024 * 1024

const Param = z.union([
  z.null(),
  z.string(),
  z.pipe(
    z.union([z.number(), z.boolean()]),
    z.transform((value) => String(value)),
  ),
  z.array(z.unknown()),
  z.pipe(
    z.record(z.string(), z.unknown()),
    z.transform((value) => JSON.stringify(value)),
  ),
])

const Query = z.object({ query: z.string(), params: z._default(z.array(Param), []) })
const Body = z.union([Query, z.object({ queries: z.array(Query) })])

/** One statement with its parameters as text. */
export type NeonQuery = z.infer<typeof Query>

/** Returns the parsed body, or the reason why it is invalid. */
export async function parseNeonRequest(request: Request): Promise<z.infer<typeof Body> | string> {
  if (request.headers.get('Neon-Connection-String') === null) return 'missing connection string'
  const text = await request.text()
  if (Buffer.byteLength(text) > MAX_BYTES) return `request is too large (max is ${MAX_BYTES} bytes)`
  try {
    // Neon's client sends JSON as text/plain, so the content type is not checked.
    const body = z.safeParse(Body, JSON.parse(text))
    return body.success ? body.data : 'the body is neither {query, params} nor {queries}'
  } catch {
    return 'the body is not JSON'
  }
}
