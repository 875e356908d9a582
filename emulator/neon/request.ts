import * as z from 'zod/mini'

/** Neon's default limit for requests and for responses. */
export const MAX_BYTES = 10 * 1024 * 1024

/** An error with the status of Neon's response; its cause is the error of Postgres, if any. */
export class NeonError extends Error {
  readonly status: number

  constructor(status: number, message: string, cause?: unknown) {
    super(message, { cause })
    this.status = status
  }
}

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

/** Reads the body. Neon's client sends JSON as text/plain, so the content type is not checked. */
export async function parseNeonRequest(request: Request): Promise<z.infer<typeof Body>> {
  const text = await request.text()
  if (Buffer.byteLength(text) > MAX_BYTES) {
    throw new NeonError(413, `request is too large (max is ${MAX_BYTES} bytes)`)
  }
  try {
    return z.parse(Body, JSON.parse(text))
  } catch {
    throw new NeonError(400, 'could not parse the HTTP request body')
  }
}
