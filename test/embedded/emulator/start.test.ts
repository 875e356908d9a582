import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { startLocalServer } from '../../../connectors/certify/local-server.ts'
import { checkServers } from '../../../emulator/check-servers.ts'
import { openDemo } from '../../../emulator/demo-data.ts'
import { readSettings, requireNetworkOption } from '../../../emulator/settings.ts'

const listener = await startLocalServer(() => {})
const inUse = new URL(listener.url).port
afterAll(listener.close)

test('a setting that cannot be used is one line on stderr, and exit code 1', () => {
  const env = { PATH: process.env.PATH, PORT: 'abc' }
  const { status, stdout, stderr } = spawnSync(process.execPath, ['emulator/main.ts'], {
    env,
    encoding: 'utf8',
  })
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr).toBe('PORT must be a whole number from 0 to 65535, not "abc".\n')
})

test('a machine on which workerd does not run is reported with what workerd needs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'start-test-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const workerd = join(folder, 'workerd')
  const reason = "libc.so.6: version `GLIBC_2.35' not found"
  await writeFile(workerd, `#!/bin/sh\ncat >&2 <<'END'\nother\n${reason}\nEND\nexit 1\n`, { mode: 0o755 })
  const program = `
    const { createMiniflare } = await import('./emulator/workers/miniflare.ts')
    try { createMiniflare({ script: '' }) } catch (error) { console.log(error.message) }`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    env: { PATH: process.env.PATH, MINIFLARE_WORKERD_PATH: workerd },
    encoding: 'utf8',
  })
  expect(stdout).toContain(`does not run on this machine: ${reason}. It needs Linux with glibc 2.35`)
})

test('a full disk is no reason to delete the data of the last start', async () => {
  const state = { postgres: '', isLoaded: true, markLoaded: () => {} }
  const open = (reason: string) => openDemo({ state, postgres: Promise.reject(new Error(reason)) })
  await expect(open('ENOSPC: write')).rejects.toThrow(/^ENOSPC: write$/)
  await expect(open('damaged')).rejects.toThrow(/npm start -- --fresh$/)
})

test.for([
  ['a port in use', { PORT: inUse }, /^Port \d+ on 127\.0\.0\.1 is in use/],
  ['a port of the inspector in use', { INSPECTOR_PORT: inUse }, /INSPECTOR_PORT=\d+ npm start$/],
  ['a host of another machine', { HOST: '192.0.2.1' }, /^Cannot listen on HOST 192\.0\.2\.1/],
  [
    'an unreachable database',
    { DATABASE_URL: 'postgres://me:secret@127.0.0.1:1/x' },
    /DATABASE_URL.*ECONNREFUSED/,
  ],
  ['a database without a name', { DATABASE_URL: 'postgres://me:secret@127.0.0.1:1' }, /^DATABASE_URL must/],
  [
    'an unreachable Redis',
    { REDIS_URL: 'redis://:secret@127.0.0.1:1' },
    /^Cannot connect to REDIS_URL: .*ECONNREFUSED/,
  ],
] as const)('%s is reported before anything starts, without its secrets', async ([
  ,
  environment,
  message,
]) => {
  const error: Error = await checkServers(readSettings({ PORT: '0', ...environment })).catch((error) => error)
  expect(error.message).toMatch(message)
  expect(error.message).not.toContain('secret')
})

test('a HOST that other machines reach needs the option that says what it opens', () => {
  const requireOption = (HOST: string, allowNetwork: boolean) =>
    requireNetworkOption(readSettings({ HOST }), { allowNetwork })
  for (const host of ['127.0.0.1', 'localhost', '::1']) expect(() => requireOption(host, false)).not.toThrow()
  for (const host of ['0.0.0.0', '::', '192.168.1.7', '127.0.0.1.example.com']) {
    expect(() => requireOption(host, false)).toThrow(
      `HOST ${host} lets other machines reach the service, and with the demo keys all of its data. To allow it: HOST=${host} npm start -- --allow-network`,
    )
    expect(() => requireOption(host, true)).not.toThrow()
  }
})
