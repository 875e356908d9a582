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

/** Checks a connection string in Neon's order and words. Options of the URL are ignored. */
export function authenticate(header: string | null, passwords: ReadonlyMap<string, string>): Account {
  if (header === null) throw new NeonError(400, 'invalid header: neon-connection-string')
  if (!URL.canParse(header))
    throw new NeonError(400, 'invalid connection string: relative URL without a base')
  const { protocol, pathname, username, password } = new URL(header)
  if (protocol !== 'postgres:' && protocol !== 'postgresql:') throw new NeonError(400, 'incorrect scheme')
  const database = decodeURIComponent(pathname.slice(1))
  if (database === '') throw new NeonError(400, 'missing database name')
  const user = decodeURIComponent(username)
  if (user === '') throw new NeonError(400, 'missing username')
  if (password === '') throw new NeonError(400, 'missing authentication credentials: required password')
  if (passwords.get(user) !== decodeURIComponent(password)) {
    throw new NeonError(400, `password authentication failed for user '${user}'`)
  }
  return { user, database }
}
