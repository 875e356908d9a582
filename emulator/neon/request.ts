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

/** Who asks, and for which database. */
export interface Account {
  user: string
  database: string
}

/** The password of each user of some connection strings. */
export const passwordsOf = (connectionStrings: readonly string[]): ReadonlyMap<string, string> =>
  new Map(
    connectionStrings.map((each) => {
      const { username, password } = new URL(each)
      return [decodeURIComponent(username), decodeURIComponent(password)]
    }),
  )

/** Checks the password of a connection string, in Neon's words. Options of the URL are ignored. */
export function authenticate(connectionString: string, passwords: ReadonlyMap<string, string>): Account {
  const { pathname, username, password } = new URL(connectionString)
  const user = decodeURIComponent(username)
  if (passwords.get(user) !== decodeURIComponent(password)) {
    throw new NeonError(400, `password authentication failed for user '${user}'`)
  }
  return { user, database: decodeURIComponent(pathname.slice(1)) }
}
