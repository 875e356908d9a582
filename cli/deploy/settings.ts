import { isConnectionString } from '../../drizzle/db/connection-string.ts'
import { PATTERNS } from '../../lib/request/env.ts'
import type { WorkerConfig } from '../workers/wrangler-config.ts'

type Environment = Readonly<Record<string, string | undefined>>

type Setting = {
  readonly description: string
  readonly form: { readonly test: (value: string) => boolean }
  readonly optional?: true
}

const LONG_SECRET = /^.{32,}$/

const database = (what: string): Setting => ({
  description: `${what}, postgresql://user:password@host/database?sslmode=require, its password percent-encoded`,
  form: { test: isEncrypted },
})

/** Whether a connection string asks for TLS. This machine needs none. */
function isEncrypted(value: string): boolean {
  if (!PATTERNS.DATABASE_URL.test(value) || !URL.canParse(value) || !isConnectionString(value)) return false
  const { hostname, searchParams } = new URL(value)
  return hostname === '127.0.0.1' || /^(require|verify-full)$/.test(searchParams.get('sslmode') ?? '')
}

/** The settings of a deployment. Error messages quote names and descriptions, never a value. */
export const SETTINGS = {
  CLOUDFLARE_API_TOKEN: { description: 'a token of the template "Edit Cloudflare Workers"', form: /^\S+$/ },
  CLOUDFLARE_ZONE: {
    description: 'the Cloudflare zone, such as example.com',
    form: /^([a-z0-9-]+\.)+[a-z0-9-]{2,}$/,
  },
  API_URL: {
    description: 'the URL of the service, such as https://api.example.com',
    form: /^https:\/\/[a-z0-9.-]+\/?$/,
  },
  MIGRATE_DATABASE_URL: database("the owner's direct connection string"),
  DATABASE_URL: database('the connection string with the role export_api_reader'),
  REFRESH_DATABASE_URL: database('the connection string with the role export_api_refresher'),
  UPSTASH_REDIS_REST_URL: {
    description: "Upstash's REST URL, such as https://example.upstash.io",
    form: /^https:\/\/[a-z0-9.-]+(:\d+)?\/?$/,
  },
  UPSTASH_REDIS_REST_TOKEN: { description: "Upstash's REST token", form: PATTERNS.UPSTASH_REDIS_REST_TOKEN },
  CURSOR_SECRET: {
    description: 'at least 32 random characters, for example from openssl rand -hex 32',
    form: LONG_SECRET,
  },
  CURSOR_SECRET_PREVIOUS: {
    description: 'the previous CURSOR_SECRET, at least 32 characters',
    form: LONG_SECRET,
    optional: true,
  },
  SESSION_COOKIE: { description: 'the name of a cookie', form: PATTERNS.SESSION_COOKIE, optional: true },
  OUTER_LIMIT: { description: 'a number of requests a minute', form: /^[1-9]\d{0,6}$/, optional: true },
  REFRESH_LANES: { description: 'a number from 1 to 6', form: PATTERNS.REFRESH_LANES, optional: true },
  URL_SECONDS: { description: 'a number from 60 to 99999', form: PATTERNS.URL_SECONDS, optional: true },
  SHARE_BUCKET: {
    description: 'the name of an R2 bucket',
    form: /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/,
    optional: true,
  },
  NAME_PREFIX: {
    description:
      'such as staging-: lower-case letters, digits and hyphens, at most 31, from a letter to a hyphen',
    form: /^[a-z][a-z0-9-]{0,29}-$/,
    optional: true,
  },
} as const satisfies Record<string, Setting>

type Name = keyof typeof SETTINGS

export type Settings = Readonly<Record<Name, string>>

/** Reads every setting, empty where it is missing or malformed, and describes each error in a sentence. */
export function readSettings(environment: Environment): { settings: Settings; errors: string[] } {
  const errors: string[] = []
  const read = (name: Name): string => {
    const { description, form, optional }: Setting = SETTINGS[name]
    const value = environment[name] ?? ''
    if (value === '' && !optional) errors.push(`${name} is not set. Set it to ${description}.`)
    if (value === '' || form.test(value)) return value
    errors.push(`${name} is malformed. It must be ${description}.`)
    return ''
  }
  const settings = {
    CLOUDFLARE_API_TOKEN: read('CLOUDFLARE_API_TOKEN'),
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
    OUTER_LIMIT: read('OUTER_LIMIT'),
    REFRESH_LANES: read('REFRESH_LANES'),
    URL_SECONDS: read('URL_SECONDS'),
    SHARE_BUCKET: read('SHARE_BUCKET'),
    NAME_PREFIX: read('NAME_PREFIX'),
  }
  return { settings, errors: [...errors, ...conflicts(settings)] }
}

/** Settings that are well-formed and do not fit together. */
function conflicts(settings: Settings): string[] {
  const errors: string[] = []
  const { CLOUDFLARE_ZONE: zone, API_URL, MIGRATE_DATABASE_URL: owner } = settings
  const host = hostOf(API_URL)
  if (zone !== '' && host !== '' && host !== zone && !host.endsWith(`.${zone}`)) {
    errors.push('API_URL is not in CLOUDFLARE_ZONE. Its host must be that zone or a subdomain of it.')
  }
  if (POOLER.test(hostOf(owner))) {
    errors.push(
      "MIGRATE_DATABASE_URL names Neon's pooler. Set it to the direct connection string, which migrations need.",
    )
  }
  for (const name of ['DATABASE_URL', 'REFRESH_DATABASE_URL'] as const) {
    if (settings[name] !== '' && throughPooler(settings[name]) !== new URL(settings[name]).href) {
      errors.push(
        `${name} names Neon's direct host, which opens a connection per request. Add -pooler to its first label.`,
      )
    }
    if (settings[name] !== '' && userOf(settings[name]) === userOf(owner)) {
      errors.push(
        `${name} has the owner's role. Use the Worker's own role: npm run migrate -- --passwords prints its connection string.`,
      )
    }
  }
  return errors
}

/**
 * The secrets of a Worker; undefined when it needs none. Optional settings get their defaults, because a secret that is
 * left out keeps its previous value at Cloudflare.
 */
export function secretsFor(settings: Settings, worker: WorkerConfig): Record<string, string> | undefined {
  if (!worker.hasSecrets) return undefined
  const { CURSOR_SECRET, CURSOR_SECRET_PREVIOUS, SESSION_COOKIE, REFRESH_LANES, URL_SECONDS } = settings
  return {
    DATABASE_URL: worker.crons.length > 0 ? settings.REFRESH_DATABASE_URL : settings.DATABASE_URL,
    UPSTASH_REDIS_REST_URL: settings.UPSTASH_REDIS_REST_URL,
    UPSTASH_REDIS_REST_TOKEN: settings.UPSTASH_REDIS_REST_TOKEN,
    CURSOR_SECRET,
    CURSOR_SECRET_PREVIOUS: CURSOR_SECRET_PREVIOUS || CURSOR_SECRET,
    SESSION_COOKIE: SESSION_COOKIE || 'session',
    REFRESH_LANES: REFRESH_LANES || '2',
    URL_SECONDS: URL_SECONDS || '3600',
  }
}

/** Cloudflare's name of a Neon database's region; undefined when the host does not contain one. */
export function regionOf(databaseUrl: string): string | undefined {
  const region = /\.([a-z]+-[a-z]+-\d+)\.aws\.neon\.tech$/.exec(hostOf(databaseUrl))?.[1]
  return region === undefined ? undefined : `aws:${region}`
}

const POOLER = /^[^.]+-pooler\./

/** The same database through Neon's pooler. Hosts that are not Neon's stay as they are. */
export function throughPooler(databaseUrl: string): string {
  const url = new URL(databaseUrl)
  const { hostname } = url
  if (hostname.endsWith('.neon.tech') && !POOLER.test(hostname))
    url.hostname = hostname.replace('.', '-pooler.')
  return url.href
}

/** The host of a URL; empty when there is none. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : '')

const userOf = (url: string): string => (URL.canParse(url) ? new URL(url).username : '')
