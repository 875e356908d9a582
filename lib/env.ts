import { memoize } from './memoize.ts'

/** What a Worker is told by its environment. */
export type Env = {
  /** Neon's connection string; requests go to its host over HTTPS. */
  readonly DATABASE_URL: string
  readonly UPSTASH_REDIS_REST_URL: string
  readonly UPSTASH_REDIS_REST_TOKEN: string
  /** Signs cursors; the same for all Workers. */
  readonly CURSOR_SECRET: string
  /** Signed cursors before; theirs are still accepted. */
  readonly CURSOR_SECRET_PREVIOUS: string | undefined
  /** Name of the session cookie. */
  readonly SESSION_COOKIE: string
}

// Patterns and not schemas: the Worker that serves the description needs no validation library beside them.
export const FORMS: Readonly<Record<keyof Env, RegExp>> = {
  DATABASE_URL: /^postgres(ql)?:\/\/[^/]/,
  UPSTASH_REDIS_REST_URL: /^https?:\/\/[^/]/,
  UPSTASH_REDIS_REST_TOKEN: /./,
  CURSOR_SECRET: /./,
  CURSOR_SECRET_PREVIOUS: /./,
  SESSION_COOKIE: /^[^\s;=,]+$/,
}

/** Bindings that are missing or malformed: its message says which is which, and holds no value. */
export class EnvironmentError extends Error {}

/** A Worker's bindings, checked; throws an {@link EnvironmentError} that names each one that is missing or malformed. */
export const parseEnv = memoize((bindings: object): Env => {
  const given: Readonly<Record<string, unknown>> = { ...bindings }
  const wrong: string[] = []
  const read = (name: keyof Env): string => {
    const value = given[name]
    if (typeof value === 'string' && FORMS[name].test(value)) return value
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
  }
  if (wrong.length === 0) return env
  throw new EnvironmentError(`Settings that cannot be used: ${wrong.join(', ')}`)
})
