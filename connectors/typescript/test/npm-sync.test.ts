import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { copyCheckout } from '../../../test/fixtures/checkout.ts'
import { database } from '../../../test/fixtures/rows.ts'
import { answeredDays, type Scene } from '../../../test/fixtures/scene.ts'

// npm run sync: the command with the service that npm start runs as its default.

const db = database()
let checkout: string
let its: Scene

beforeAll(async () => {
  checkout = await copyCheckout()
  const client = 'connectors/typescript'
  await cp(client, join(checkout, client), {
    recursive: true,
    filter: (path) => !path.endsWith('node_modules'),
  })
  await mkdir(join(checkout, '.state'))
  its = await answeredDays(db, { first: '2026-10-30', days: 2 })
})
afterAll(() => rm(checkout, { recursive: true }))

/** Makes these services run: this process is theirs. */
async function announce(
  services: readonly {
    readonly url: string
    readonly demo?: { readonly key: string }
    readonly isLoading?: boolean
  }[],
): Promise<void> {
  const names = services.map(({ url }) => `running-${new URL(url).port}.json`)
  for (const name of await readdir(join(checkout, '.state')))
    if (!names.includes(name)) await rm(join(checkout, '.state', name))
  for (const service of services) {
    const path = join(checkout, '.state', `running-${new URL(service.url).port}.json`)
    // As a whole: the command may be waiting for it.
    await writeFile(`${path}.new`, JSON.stringify({ pid: process.pid, ...service }))
    await rename(`${path}.new`, path)
  }
}

async function npmSync(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const child = spawn(process.execPath, ['cli/sync.ts', ...args], { cwd: checkout, env })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: child.exitCode, stdout, stderr }
}

const OTHER = 'http://127.0.0.1:1'

test('copies from the service that runs to copy/, and draws the report', async () => {
  const url = inject('serviceUrl')
  await announce([
    { url: OTHER, demo: { key: 'svc_live_1' } },
    { url, demo: { key: its.key } },
  ])
  const usesDemo = { code: 0, stderr: "Using the demo's key.\n" }
  expect(await npmSync({ PORT: new URL(url).port })).toMatchObject(usesDemo)
  expect(await readdir(join(checkout, 'copy'))).toEqual(expect.arrayContaining(['brands', 'report.html']))
  const verified = await npmSync({ PORT: new URL(url).port }, 'verify', 'copy')
  expect(verified).toMatchObject(usesDemo)
})

test('a key that is set is used instead of that of the demo', async () => {
  await announce([{ url: inject('serviceUrl'), demo: { key: its.key } }])
  const refused = await npmSync({ EXPORT_API_KEY: `svc_live_${'0'.repeat(64)}` }, '--out=refused')
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/^(?!.*demo).*API key/) })
})

test('waits until the service has all days of the demo', async () => {
  const service = { url: inject('serviceUrl'), demo: { key: its.key } }
  await announce([{ ...service, isLoading: true }])
  const child = spawn(process.execPath, ['cli/sync.ts'], { cwd: checkout, env: {} })
  const [message] = await once(child.stderr, 'data')
  expect(String(message)).toMatch(/loads older days/)
  await announce([{ ...service, isLoading: false }])
  child.stdout.resume()
  expect(await once(child, 'close')).toEqual([0, null])
})

test('with settings, takes them, and a folder named after the service', async () => {
  await announce([{ url: OTHER, demo: { key: 'svc_live_1' } }])
  const [url, EXPORT_API_KEY] = [inject('serviceUrl'), its.key]
  expect(await npmSync({ EXPORT_API_URL: url, EXPORT_API_KEY })).toMatchObject({ code: 0, stderr: '' })
  const copied = await readdir(join(checkout, `copy-127.0.0.1-${new URL(url).port}`))
  expect(copied).toContain('brands')
  expect(copied).not.toContain('report.html')
  const other = await npmSync({ EXPORT_API_KEY }, `--url=${url}`, '--out=other')
  expect(other).toMatchObject({ code: 0, stderr: '' })
})

test.for<[string, { url: string }[], string]>([
  [
    'no service runs',
    [],
    'No service runs here. Run npm start in another terminal, or set EXPORT_API_URL and EXPORT_API_KEY.\n',
  ],
  [
    'the service has a database of its own',
    [{ url: OTHER }],
    `The service at ${OTHER} has the keys of your database, so none is known here. Set EXPORT_API_KEY.\n`,
  ],
])('says what to do when %s', async ([, services, stderr]) => {
  await announce(services)
  expect(await npmSync({})).toEqual({ code: 64, stdout: '', stderr })
  expect(await npmSync({}, '--help')).toMatchObject({ code: 0, stderr: '' })
  expect(await npmSync({}, '--bogus')).toMatchObject({
    code: 64,
    stderr: expect.stringMatching(/^Unknown option/),
  })
})
