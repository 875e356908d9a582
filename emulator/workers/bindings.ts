const database = (role: string) => `postgresql://${role}:local@ep-local.neon.test/export`

/** Bindings of every Worker, under production's names; requests are told apart by the hosts in them. */
export const BINDINGS = {
  DATABASE_URL: database('export_api_reader'),
  UPSTASH_REDIS_REST_URL: 'https://local.upstash.test',
  UPSTASH_REDIS_REST_TOKEN: 'local',
  // Fixed, so that cursors outlive a restart. It signs nothing but the cursors of this machine.
  CURSOR_SECRET: 'emulator-cursor-secret',
}

/** What a Worker that runs on a schedule has instead: the right to refresh, and no other. */
export const SCHEDULED_BINDINGS = { DATABASE_URL: database('export_api_refresher') }

const FROM_ENVIRONMENT = ['CURSOR_SECRET', 'CURSOR_SECRET_PREVIOUS', 'SESSION_COOKIE']

/** Bindings that whoever starts the emulator may set as in production. */
export function variables(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const set: Record<string, string> = {}
  for (const name of FROM_ENVIRONMENT) {
    const value = environment[name]
    if (value) set[name] = value
  }
  return set
}
