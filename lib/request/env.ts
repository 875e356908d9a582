import { memoize } from './isolate.ts'

/** A Worker's bindings, parsed. */
export type Env = {
  /** Neon's connection string; requests go to its host over HTTPS. */
  readonly DATABASE_URL: string
  readonly UPSTASH_REDIS_REST_URL: string
  readonly UPSTASH_REDIS_REST_TOKEN: string
  /** Signs cursors and the URLs of the share's objects; the same for all Workers. */
  readonly CURSOR_SECRET: string
  /** The previous secret, whose cursors and URLs are still accepted. */
  readonly CURSOR_SECRET_PREVIOUS: string | undefined
  /** Name of the session cookie. */
  readonly SESSION_COOKIE: string
  /** How many lanes the scheduled refresh has. */
  readonly REFRESH_LANES: string
  /** Seconds that the URL of an object of the share works: less than drizzle/sql/publish.sql keeps objects that a version has dropped. */
  readonly URL_SECONDS: string
}

// Patterns instead of zod schemas: the OpenAPI Worker then bundles no validation library.
export const PATTERNS: Readonly<Record<keyof Env, RegExp>> = {
  DATABASE_URL: /^postgres(ql)?:\/\/[^/]/,
  UPSTASH_REDIS_REST_URL: /^https?:\/\/[^/]/,
  UPSTASH_REDIS_REST_TOKEN: /./,
  CURSOR_SECRET: /./,
  CURSOR_SECRET_PREVIOUS: /./,
  SESSION_COOKIE: /^[^\s;=,]+$/,
  // A Worker has at most six connections at once.
  REFRESH_LANES: /^[1-6]$/,
  URL_SECONDS: /^(?:[6-9]\d|[1-9]\d{2,4})$/,
}

/** Thrown for missing or malformed bindings. Its message names them and holds no value. */
export class EnvironmentError extends Error {}

/** Parses a Worker's bindings; throws {@link EnvironmentError}, which names each missing or malformed one. */
export const parseEnv = memoize((bindings: object): Env => {
  const given: Readonly<Record<string, unknown>> = { ...bindings }
  const wrong: string[] = []
  const read = (name: keyof Env): string => {
    const value = given[name]
    if (typeof value === 'string' && PATTERNS[name].test(value)) return value
    wrong.push(`${name} is ${value ? 'malformed' : 'missing'}`)
    return ''
  }
  const env = {
    DATABASE_URL: read('DATABASE_URL'),
    UPSTASH_REDIS_REST_URL: read('UPSTASH_REDIS_REST_URL'),
    UPSTASH_REDIS_REST_TOKEN: read('UPSTASH_REDIS_REST_TOKEN'),
    CURSOR_SECRET: read('CURSOR_SECRET'),
    CURSOR_SECRET_PREVIOUS: given.CURSOR_SECRET_PREVIOUS ? read('CURSOR_SECRET_PREVIOUS') : undefined,
    SESSION_COOKIE: given.SESSION_COOKIE ? read('SESSION_COOKIE') : 'session',
    REFRESH_LANES: given.REFRESH_LANES ? read('REFRESH_LANES') : '2',
    URL_SECONDS: given.URL_SECONDS ? read('URL_SECONDS') : '3600',
  }
  if (wrong.length === 0) return env
  throw new EnvironmentError(`Invalid settings: ${wrong.join(', ')}`)
})
