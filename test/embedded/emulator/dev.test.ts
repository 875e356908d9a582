import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DEMO } from '../../../drizzle/seed/demo.ts'
import { copyCheckout } from '../../fixtures/checkout.ts'

// npm start -- --watch in a copy of the checkout. The tests build on each other.

const START_TIMEOUT = 180_000
const PATIENT = { timeout: START_TIMEOUT, interval: 50 }

let checkout: string
let temporary: string
let service: ChildProcess
let ended: Promise<unknown[]>
let stdout = ''
let stderr = ''
let source: string

beforeAll(async () => {
  checkout = await copyCheckout()
  temporary = await mkdtemp(join(tmpdir(), 'export-api-tmp-'))
  source = await readFile(join(checkout, 'lib/request/errors.ts'), 'utf8')

  const env = { PATH: process.env.PATH, PORT: '0', TMPDIR: temporary }
  service = spawn(process.execPath, ['emulator/main.ts', '--watch', '--keys'], {
    cwd: checkout,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  ended = once(service, 'close')
  service.stdout?.setEncoding('utf8').on('data', (text) => {
    stdout += text
  })
  service.stderr?.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
})

afterAll(async () => {
  service.kill()
  await ended
  await Promise.all([checkout, temporary].map((folder) => rm(folder, { recursive: true })))
})

/** Sends the request that the banner prints. */
async function readDemo(): Promise<string> {
  const [, key = '', url = ''] = /^KEY=(.+)\ncurl .+ (http.+)$/m.exec(stdout) ?? []
  const response = await fetch(url, { headers: { 'X-API-Key': key } })
  return response.text()
}

/** The rows of that request; none while the service is too busy to answer it. */
const readBrands = async (): Promise<unknown[]> => JSON.parse(await readDemo()).data ?? []

/** The message of a request without a key. */
async function readError(): Promise<string> {
  const [origin = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(stdout) ?? []
  const response = await fetch(`${origin}/api/export/v1/brands`).catch(() => undefined)
  return response === undefined ? '' : response.text()
}

const writeErrors = (text: string) => writeFile(join(checkout, 'lib/request/errors.ts'), text)

async function edit(file: string, from: string, to: string): Promise<void> {
  const path = join(checkout, file)
  await writeFile(path, (await readFile(path, 'utf8')).replace(from, to))
}

test('prints the demo keys and a request that works', { timeout: START_TIMEOUT }, async () => {
  await expect.poll(() => stdout + stderr, { timeout: START_TIMEOUT }).toContain('Watching')
  for (const { key } of DEMO.keys) expect(stdout).toContain(key)
  await expect.poll(readBrands, PATIENT).toHaveLength(2)
})

test('serves a changed file on the same port, with the same data', {
  timeout: 2 * START_TIMEOUT,
}, async () => {
  source = source.replace('API key missing', 'API key absent')
  await writeErrors(source)
  await expect.poll(readError, PATIENT).toContain('API key absent')
  await expect.poll(readBrands, PATIENT).toHaveLength(2)
})

test('serves an edited statement', { timeout: 2 * START_TIMEOUT }, async () => {
  const [before, after] = ["keys.scope = 'export'", "keys.scope = 'none'"]
  await edit('lib/access/scope.ts', before, after)
  await expect.poll(readDemo, PATIENT).toContain('API key absent')
  await edit('lib/access/scope.ts', after, before)
  await expect.poll(readDemo, PATIENT).not.toContain('API key absent')
})

test('prints why a statement cannot be rendered, and serves the last good build', {
  timeout: 2 * START_TIMEOUT,
}, async () => {
  const [before, after] = ["key: ['date', 'model_id'", "key: ['date', 'nothing'"]
  await edit('functions/visibility.ts', before, after)
  await expect.poll(() => stderr, PATIENT).toContain('No column nothing in visibility')
  await expect.poll(readBrands, PATIENT).toHaveLength(2)
  await edit('functions/visibility.ts', after, before)
})

test('prints where a file is broken, and serves the last good build', {
  timeout: 2 * START_TIMEOUT,
}, async () => {
  await writeErrors(`${source}\nconst broken = = 1\n`)
  await expect.poll(() => stderr, PATIENT).toContain('[ERROR] Unexpected "="')
  expect(stderr).toMatch(/lib\/request\/errors\.ts:\d+:\d+/)
  expect(await readError()).toContain('API key absent')
})

test('Ctrl-C ends it and leaves nothing behind', { timeout: 2 * START_TIMEOUT }, async () => {
  service.kill('SIGINT')
  expect(await ended).toEqual([0, null])
  expect(await readdir(temporary)).toEqual([])
  expect(await readError()).toBe('')
})
