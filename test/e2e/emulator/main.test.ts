import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rmdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { DEMO } from '../../../drizzle/seed/demo.ts'

const MAIN = fileURLToPath(new URL('../../../emulator/main.ts', import.meta.url))
const started: ChildProcess[] = []

/** What `npm start` runs, in an environment of its own. */
function start(environment: Record<string, string>) {
  const env = { PATH: process.env.PATH, PORT: '0', ...environment }
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  started.push(child)
  let output = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  const ended = once(child, 'close').then(([code]) => code)
  return { child, ended, output: () => output, errors: () => errors }
}

afterEach(() => {
  for (const child of started.splice(0)) child.kill()
})

test('the demo answers the request that it prints, and Ctrl-C leaves nothing behind', {
  timeout: 180_000,
}, async () => {
  const TMPDIR = await mkdtemp(join(tmpdir(), 'export-api-test-'))
  const { child, ended, output, errors } = start({ TMPDIR })
  await expect.poll(output, { timeout: 150_000, interval: 100 }).toContain('Ctrl-C')
  for (const { key } of DEMO.keys) expect(output()).toContain(key)

  const [, url = '', key = ''] = /curl '(.+)' \\\n\s+-H 'X-API-Key: (.+)'/.exec(output()) ?? []
  const response = await fetch(url, { headers: { 'X-API-Key': key } })
  const body = await response.json()
  expect([response.status, body.data.length > 100]).toEqual([200, true])

  child.kill('SIGINT')
  expect([await ended, errors()]).toEqual([0, ''])
  expect(await readdir(TMPDIR)).toEqual([])
  await rmdir(TMPDIR)
  await expect(fetch(url)).rejects.toThrow()
})

test('what cannot be used is one line, and the end', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const address = taken.address()
  const port = typeof address === 'object' ? String(address?.port) : ''
  const cases: [Record<string, string>, string][] = [
    [{ PORT: 'abc' }, 'PORT'],
    [{ PORT: port }, `Port ${port} of 127.0.0.1 is taken`],
    [
      { DATABASE_URL: 'postgres://me:secret@127.0.0.1:1/x' },
      'DATABASE_URL cannot be used: connect ECONNREFUSED',
    ],
    [{ REDIS_URL: 'redis://:secret@127.0.0.1:1' }, 'REDIS_URL cannot be used: connect ECONNREFUSED'],
  ]
  for (const [environment, line] of cases) {
    const { ended, output, errors } = start(environment)
    expect([await ended, output()]).toEqual([1, ''])
    expect(errors()).toContain(line)
    expect(errors().trimEnd().split('\n')).toHaveLength(1)
    expect(errors()).not.toContain('secret')
  }
  taken.close()
})
