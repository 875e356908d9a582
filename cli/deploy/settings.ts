import type { WorkerConfig } from '../../bundle/wrangler-config.ts'
import { FORMS } from '../../lib/env.ts'

type Environment = Readonly<Record<string, string | undefined>>

type Setting = { readonly is: string; readonly form: RegExp; readonly optional?: true }

const ADDRESS = 'postgresql://user:password@host/database'

/** What an owner has to say, and what each must look like. Sentences tell names and forms, never a value. */
export const SETTINGS = {
  CLOUDFLARE_ZONE: {
    is: 'the domain at Cloudflare that the service is part of, such as example.com',
    form: /^([a-z0-9-]+\.)+[a-z0-9-]{2,}$/,
  },
  API_URL: {
    is: 'the address of the service, such as https://api.example.com',
    form: /^https:\/\/[a-z0-9.-]+\/?$/,
  },
  MIGRATE_DATABASE_URL: {
    is: `the owner's direct address of the database, ${ADDRESS}`,
    form: FORMS.DATABASE_URL,
  },
  DATABASE_URL: {
    is: `the database's address with the role export_api_reader, ${ADDRESS}`,
    form: FORMS.DATABASE_URL,
  },
  REFRESH_DATABASE_URL: {
    is: `the database's address with the role export_api_refresher, ${ADDRESS}`,
    form: FORMS.DATABASE_URL,
  },
  UPSTASH_REDIS_REST_URL: {
    is: "the REST address of Upstash's database, such as https://example.upstash.io",
    form: FORMS.UPSTASH_REDIS_REST_URL,
  },
  UPSTASH_REDIS_REST_TOKEN: {
    is: "the REST token of Upstash's database",
    form: FORMS.UPSTASH_REDIS_REST_TOKEN,
  },
  CURSOR_SECRET: { is: 'at least 32 random characters: openssl rand -hex 32 makes them', form: /^.{32,}$/ },
  CURSOR_SECRET_PREVIOUS: {
    is: 'the CURSOR_SECRET before, at least 32 characters',
    form: /^.{32,}$/,
    optional: true,
  },
  SESSION_COOKIE: { is: 'the name of a cookie', form: FORMS.SESSION_COOKIE, optional: true },
} as const satisfies Record<string, Setting>

export type Name = keyof typeof SETTINGS

export type Settings = Readonly<Record<Name, string>>

/** Reads the environment: every setting, empty where it is not set, and a sentence for each thing that is missing or wrong. */
export function readSettings(environment: Environment): { settings: Settings; wrong: string[] } {
  const wrong: string[] = []
  const read = (name: Name): string => {
    const { is, form, optional }: Setting = SETTINGS[name]
    const value = environment[name] ?? ''
    if (value === '' && !optional) wrong.push(`${name} is not set: ${is}.`)
    if (value === '' || form.test(value)) return value
    wrong.push(`${name} is malformed: it must be ${is}.`)
    return ''
  }
  const settings = {
    CLOUDFLARE_ZONE: read('CLOUDFLARE_ZONE'),
    API_URL: read('API_URL').replace(/\/$/, ''),
    MIGRATE_DATABASE_URL: read('MIGRATE_DATABASE_URL'),
    DATABASE_URL: read('DATABASE_URL'),
    REFRESH_DATABASE_URL: read('REFRESH_DATABASE_URL'),
    UPSTASH_REDIS_REST_URL: read('UPSTASH_REDIS_REST_URL'),
    UPSTASH_REDIS_REST_TOKEN: read('UPSTASH_REDIS_REST_TOKEN'),
    CURSOR_SECRET: read('CURSOR_SECRET'),
    CURSOR_SECRET_PREVIOUS: read('CURSOR_SECRET_PREVIOUS'),
    SESSION_COOKIE: read('SESSION_COOKIE'),
  }
  return { settings, wrong: [...wrong, ...contradictions(settings)] }
}

/** What each setting allows, but not all of them together. */
function contradictions(settings: Settings): string[] {
  const wrong: string[] = []
  const { CLOUDFLARE_ZONE: zone, API_URL, MIGRATE_DATABASE_URL: owner } = settings
  const host = hostOf(API_URL)
  if (zone !== '' && host !== '' && host !== zone && !host.endsWith(`.${zone}`)) {
    wrong.push('API_URL is not part of CLOUDFLARE_ZONE: its host must be that domain or one below it.')
  }
  if (hostOf(owner).split('.')[0]?.endsWith('-pooler')) {
    wrong.push("MIGRATE_DATABASE_URL goes through Neon's pooler: a migration needs the direct address.")
  }
  for (const name of ['DATABASE_URL', 'REFRESH_DATABASE_URL'] as const) {
    if (settings[name] !== '' && userOf(settings[name]) === userOf(owner)) {
      wrong.push(`${name} has the owner's role: the Workers have roles of their own, which may do less.`)
    }
  }
  return wrong
}

/** The secrets of a Worker, none where it needs none. What is optional is told as well, so that what was set once does not stay for ever. */
export function secretsFor(
  settings: Settings,
  { crons, hasSecrets }: Pick<WorkerConfig, 'crons' | 'hasSecrets'>,
): Record<string, string> {
  if (!hasSecrets) return {}
  const { CURSOR_SECRET, CURSOR_SECRET_PREVIOUS, SESSION_COOKIE } = settings
  return {
    DATABASE_URL: crons.length > 0 ? settings.REFRESH_DATABASE_URL : settings.DATABASE_URL,
    UPSTASH_REDIS_REST_URL: settings.UPSTASH_REDIS_REST_URL,
    UPSTASH_REDIS_REST_TOKEN: settings.UPSTASH_REDIS_REST_TOKEN,
    CURSOR_SECRET,
    CURSOR_SECRET_PREVIOUS: CURSOR_SECRET_PREVIOUS || CURSOR_SECRET,
    SESSION_COOKIE: SESSION_COOKIE || 'session',
  }
}

/** The region of a Neon database as Cloudflare names it; undefined where the address does not tell. */
export function regionOf(databaseUrl: string): string | undefined {
  const region = /\.([a-z]+-[a-z]+-\d+)\.aws\.neon\.tech$/.exec(hostOf(databaseUrl))?.[1]
  return region === undefined ? undefined : `aws:${region}`
}

/** The host in an address; empty for none. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : '')

const userOf = (url: string): string => (URL.canParse(url) ? new URL(url).username : '')
