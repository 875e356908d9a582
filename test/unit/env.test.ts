import { expect, test } from 'vitest'
import { type Env, EnvironmentError, parseEnv } from '../../lib/request/env.ts'

const WHOLE: Env = {
  DATABASE_URL: 'postgresql://reader:secret@db.example/x',
  UPSTASH_REDIS_REST_URL: 'https://cache.example',
  UPSTASH_REDIS_REST_TOKEN: 'secret-token',
  CURSOR_SECRET: 'secret-of-cursors',
  CURSOR_SECRET_PREVIOUS: undefined,
  SESSION_COOKIE: 'session',
  REFRESH_LANES: '2',
  URL_SECONDS: '3600',
}

test('takes what is whole, and fills in what may be left out', () => {
  const { DATABASE_URL, UPSTASH_REDIS_REST_URL, UPSTASH_REDIS_REST_TOKEN, CURSOR_SECRET } = WHOLE
  const needed = { DATABASE_URL, UPSTASH_REDIS_REST_URL, UPSTASH_REDIS_REST_TOKEN, CURSOR_SECRET }
  const optional = ['CURSOR_SECRET_PREVIOUS', 'SESSION_COOKIE', 'REFRESH_LANES', 'URL_SECONDS']
  const empty = Object.fromEntries(optional.map((name) => [name, '']))
  expect(parseEnv(needed)).toEqual(WHOLE)
  expect(parseEnv({ ...needed, ...empty })).toEqual(WHOLE)
})

test('reports every missing and malformed setting at once', () => {
  expect(() => parseEnv({})).toThrow(
    'Invalid settings: DATABASE_URL is missing, UPSTASH_REDIS_REST_URL is missing, UPSTASH_REDIS_REST_TOKEN is missing, CURSOR_SECRET is missing',
  )
})

test.for([
  ['DATABASE_URL', 'postgres://db.example/x'],
  ['UPSTASH_REDIS_REST_URL', 'http://localhost:8079'],
  ['CURSOR_SECRET_PREVIOUS', 'a secret before'],
  ['SESSION_COOKIE', 'sid'],
  ['REFRESH_LANES', '6'],
  ['URL_SECONDS', '60'],
  ['URL_SECONDS', '99999'],
])('%s may be %s', ([name = '', value]) => {
  expect(parseEnv({ ...WHOLE, [name]: value })).toEqual({ ...WHOLE, [name]: value })
})

test.for<[string, unknown]>([
  ['DATABASE_URL', 'mysql://reader:secret@db.example/x'],
  ['DATABASE_URL', 'see postgres://secret@db.example/x'],
  ['DATABASE_URL', 'postgres:///secret'],
  ['DATABASE_URL', ['postgres://secret@db.example/x']],
  ['UPSTASH_REDIS_REST_URL', 'rediss://secret@cache.example'],
  ['UPSTASH_REDIS_REST_URL', 'see https://secret.example'],
  ['UPSTASH_REDIS_REST_URL', 'https:///secret'],
  ['UPSTASH_REDIS_REST_TOKEN', 12],
  ['CURSOR_SECRET_PREVIOUS', { secret: 'is no text' }],
  ['SESSION_COOKIE', 'two secret'],
  ['SESSION_COOKIE', '=secret'],
  ['SESSION_COOKIE', 'secret;'],
  ['REFRESH_LANES', '0'],
  ['REFRESH_LANES', '7'],
  ['URL_SECONDS', '59'],
  ['URL_SECONDS', '100000'],
  ['URL_SECONDS', '060'],
])('%s that is malformed (%j) is named, its value is not', ([name, value]) => {
  const read = () => parseEnv({ ...WHOLE, [name]: value })
  expect(read).toThrow(EnvironmentError)
  expect(read).toThrow(`Invalid settings: ${name} is malformed`)
  expect(read).not.toThrow('secret')
})
