import { expect, test } from 'vitest'
import { readSettings } from '../../emulator/settings.ts'

test('without any variable the service is embedded, on port 8787 of this machine', () => {
  const embedded = {
    host: '127.0.0.1',
    port: 8787,
    databaseUrl: undefined,
    redisUrl: undefined,
    latencyMs: 0,
    outerLimit: undefined,
    inspectorPort: undefined,
  }
  expect(readSettings({})).toEqual(embedded)
  const servers = { DATABASE_URL: '', REDIS_URL: '' }
  const empty = { ...servers, HOST: '', PORT: '', LATENCY_MS: '', OUTER_LIMIT: '', INSPECTOR_PORT: '' }
  expect(readSettings(empty)).toEqual(embedded)
})

test('variables are taken as they are', () => {
  const servers = {
    DATABASE_URL: 'postgres://me:secret@db/x?sslmode=require',
    REDIS_URL: 'rediss://cache:1/2',
  }
  const others = { HOST: '0.0.0.0', PORT: '0', LATENCY_MS: '250', OUTER_LIMIT: '5', INSPECTOR_PORT: '0' }
  expect(readSettings({ ...servers, ...others })).toEqual({
    host: '0.0.0.0',
    port: 0,
    databaseUrl: servers.DATABASE_URL,
    redisUrl: servers.REDIS_URL,
    latencyMs: 250,
    outerLimit: 5,
    inspectorPort: 0,
  })
})

test.for([
  ['PORT', 'abc'],
  ['PORT', '65536'],
  ['PORT', '80.5'],
  ['LATENCY_MS', '-1'],
  ['LATENCY_MS', '1e3'],
  ['OUTER_LIMIT', '0'],
  ['INSPECTOR_PORT', '70000'],
  ['DATABASE_URL', 'mysql://me:secret@db/x'],
  ['DATABASE_URL', 'secret'],
  // pg would connect to the host "base".
  ['DATABASE_URL', ' postgres://me:secret@db/x'],
  ['REDIS_URL', 'http://:secret@cache'],
])('%s=%s is an error that names the variable and quotes no secret', ([name = '', value = '']) => {
  const read = () => readSettings({ [name]: value })
  expect(read).toThrow(name)
  expect(read).not.toThrow('secret')
})
