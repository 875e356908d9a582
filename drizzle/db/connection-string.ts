import { UsageError } from './usage-error.ts'

/** Whether it is the URL of a database. Without a name, pg would use a database that the user has not named. */
export function isConnectionString(text: string): boolean {
  // Of a socket, the query can have the host, which a URL with a user needs.
  const url = text.replace('@/', '@localhost/')
  return /^postgres(ql)?:\/\//.test(url) && URL.canParse(url) && new URL(url).pathname.length > 1
}

const ALIASES = /(?<=[?&]sslmode=)(prefer|require|verify-ca)(?=[&#]|$)/g

/**
 * Returns a connection string as pg takes it without a warning: pg treats some values of `sslmode` as `verify-full`.
 * Throws {@link UsageError}, which names `variable`, when it is not the URL of a database.
 */
export function forPg(text: string, variable = 'DATABASE_URL'): string {
  if (!isConnectionString(text))
    throw new UsageError(`${variable} must look like postgresql://user:password@host:5432/database.`)
  return text.includes('uselibpqcompat=true') ? text : text.replace(ALIASES, 'verify-full')
}
