/** The connection strings of the Workers, by role, for the database of a URL. */
export function connectionStrings(databaseUrl: string) {
  const { pathname } = new URL(databaseUrl)
  const of = (role: string) => `postgresql://${role}:local@ep-local-pooler.neon.test${pathname}`
  return { reader: of('export_api_reader'), refresher: of('export_api_refresher') }
}

/** Bindings of every Worker but `CURSOR_SECRET`, named as in production. Their hosts tell Neon's requests from Upstash's. */
export const BINDINGS = {
  DATABASE_URL: connectionStrings('postgresql://localhost/postgres').reader,
  UPSTASH_REDIS_REST_URL: 'https://local.upstash.test',
  UPSTASH_REDIS_REST_TOKEN: 'local',
}

const FROM_ENVIRONMENT = [
  'CURSOR_SECRET',
  'CURSOR_SECRET_PREVIOUS',
  'SESSION_COOKIE',
  'REFRESH_LANES',
  'URL_SECONDS',
]

/** Bindings that the environment may set, as in production. */
export function variables(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    FROM_ENVIRONMENT.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])),
  )
}
