import * as z from 'zod/mini'

/** An error with the status of Neon's response; its cause is the error of Postgres, if any. */
export class NeonError extends Error {
  readonly status: number

  constructor(status: number, message: string, cause?: unknown) {
    super(message, { cause })
    this.status = status
  }
}

const Query = z.object({ query: z.string(), params: z._default(z.array(z.nullable(z.string())), []) })

/** One statement with its parameters as text. */
export type NeonQuery = z.infer<typeof Query>

/** Reads the body. Neon's client sends JSON as text/plain, so the content type is not checked. */
export async function parseNeonRequest(request: Request): Promise<NeonQuery> {
  try {
    return z.parse(Query, await request.json())
  } catch {
    throw new NeonError(400, 'could not parse the HTTP request body')
  }
}
