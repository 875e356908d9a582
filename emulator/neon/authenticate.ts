import { NeonError } from './request.ts'

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
