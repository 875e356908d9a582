import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DEMO } from '../../../drizzle/seed/demo.ts'
import { copyCheckout, type Start, startIn } from '../../fixtures/checkout.ts'

// npm start -- --watch in a copy of the checkout. The tests build on each other.

const START_TIMEOUT = 180_000
const PATIENT = { timeout: START_TIMEOUT, interval: 50 }

let checkout: string
let temporary: string
let service: Start
let source: string

beforeAll(async () => {
  checkout = await copyCheckout()
  temporary = await mkdtemp(join(tmpdir(), 'export-api-tmp-'))
  source = await readFile(join(checkout, 'lib/request/errors.ts'), 'utf8')
  service = startIn(checkout, ['--watch'], { TMPDIR: temporary })
})

afterAll(async () => {
  service.child.kill()
  await service.ended
  await Promise.all([checkout, temporary].map((folder) => rm(folder, { recursive: true })))
})

/** The rows of the request that the banner prints; none while the service is too busy to answer it. */
async function readBrands(): Promise<unknown[]> {
  const [, key = '', url = ''] = /^KEY=(.+)\ncurl .+ (http.+)$/m.exec(service.output) ?? []
  const response = await fetch(url, { headers: { 'X-API-Key': key } })
  return JSON.parse(await response.text()).data ?? []
}

/** The body of a response to a request without a key. */
async function readText(path: string): Promise<string> {
  const [origin = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(service.output) ?? []
  const response = await fetch(`${origin}/api/export/v1${path}`).catch(() => undefined)
  return response === undefined ? '' : response.text()
}

const writeErrors = (text: string) => writeFile(join(checkout, 'lib/request/errors.ts'), text)

test('prints a request that works', { timeout: START_TIMEOUT }, async () => {
  await expect.poll(() => service.output, { timeout: START_TIMEOUT }).toContain('Watching')
  await expect.poll(readBrands, PATIENT).toHaveLength(2)
})

test('lists the demo keys and starts nothing', async () => {
  const list = startIn(checkout, ['--keys'], {})
  expect(await list.ended).toEqual([0, null])
  expect(list.output.match(/svc_live_\w+/g)).toEqual(DEMO.keys.map(({ key }) => key))
  expect(list.output).not.toContain('http')
})

test('serves a changed file on the same port, with the same data', {
  timeout: 2 * START_TIMEOUT,
}, async () => {
  source = source.replace('API key missing', 'API key absent')
  await writeErrors(source)
  await expect.poll(() => readText('/brands'), PATIENT).toContain('API key absent')
  await expect.poll(readBrands, PATIENT).toHaveLength(2)
})

test('serves a changed page', { timeout: 2 * START_TIMEOUT }, async () => {
  const file = join(checkout, 'site/page.ts')
  await writeFile(file, (await readFile(file, 'utf8')).replace('An AI model', 'A model'))
  await expect.poll(() => readText('/docs'), PATIENT).toContain('<h2>A model answers</h2>')
})

test('prints where a file is broken, and serves the last good build', {
  timeout: 2 * START_TIMEOUT,
}, async () => {
  await writeErrors(`${source}\nconst broken = = 1\n`)
  await expect.poll(() => service.output, PATIENT).toContain('[ERROR] Unexpected "="')
  expect(service.output).toMatch(/lib\/request\/errors\.ts:\d+:\d+/)
  expect(await readText('/brands')).toContain('API key absent')
})

test('Ctrl-C ends it and leaves nothing behind', { timeout: 2 * START_TIMEOUT }, async () => {
  service.child.kill('SIGINT')
  expect(await service.ended).toEqual([0, null])
  expect(await readdir(temporary)).toEqual([])
  expect(await readText('/brands')).toBe('')
})
