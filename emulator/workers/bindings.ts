const database = (role: string) => `postgresql://${role}:local@ep-local.neon.test/export`

/** Bindings of every Worker, named as in production. Their hosts tell Neon's requests from Upstash's. */
export const BINDINGS = {
  DATABASE_URL: database('export_api_reader'),
  UPSTASH_REDIS_REST_URL: 'https://local.upstash.test',
  UPSTASH_REDIS_REST_TOKEN: 'local',
  // Fixed, so that cursors outlive a restart. It signs cursors of this machine only.
  CURSOR_SECRET: 'emulator-cursor-secret',
}

/** A scheduled Worker's own binding: the role that may only refresh. */
export const SCHEDULED_BINDINGS = { DATABASE_URL: database('export_api_refresher') }

const FROM_ENVIRONMENT = ['CURSOR_SECRET', 'CURSOR_SECRET_PREVIOUS', 'SESSION_COOKIE']

/** Bindings that the environment may set, as in production. */
export function variables(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    FROM_ENVIRONMENT.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])),
  )
}
