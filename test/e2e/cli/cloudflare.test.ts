import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { readWranglerFile } from '../../../bundle/wrangler-config.ts'
import { missingAccount } from '../../../cli/deploy/account.ts'
import { wranglerConfig } from '../../../cli/deploy/config.ts'
import { returnsOf, rollBack } from '../../../cli/deploy/rollback.ts'
import { readSettings } from '../../../cli/deploy/settings.ts'
import { deployWorkers } from '../../../cli/deploy/workers.ts'

// wrangler itself, before a Cloudflare that answers just enough of its questions.

type RequestContext = { readonly method: string; readonly path: string; readonly body: string }

const VERSIONS = ['r1', 'r2'].map((tag, index) => ({
  id: `version-of-${tag}`,
  number: index + 1,
  metadata: {
    created_on: `2026-11-0${index + 1}T00:00:00Z`,
    source: 'wrangler',
    author_email: 'me@mail.example',
  },
  annotations: { 'workers/tag': tag },
  resources: { bindings: [], script: { handlers: [] }, script_runtime: {} },
}))

const DEPLOYMENTS = VERSIONS.map(({ id, metadata }) => ({
  ...metadata,
  id: `deployment-of-${id}`,
  strategy: 'percentage',
  versions: [{ version_id: id, percentage: 100 }],
}))

/** No Worker of that name yet. */
const NOT_FOUND = { code: 10090, message: 'This service does not exist.' }

const RESULTS: readonly (readonly [RegExp, unknown])[] = [
  [/^GET .*\/tokens\/verify$/, { id: 'token', status: 'active' }],
  [/^GET .*\/user$/, { id: 'user', email: 'me@mail.example' }],
  [/^GET .*\/accounts$/, [{ id: 'account-1', name: 'Mine' }]],
  [/^GET .*\/memberships$/, [{ account: { id: 'account-1', name: 'Mine' } }]],
  [/^GET .*\/zones$/, [{ id: 'zone-1', name: 'example.com' }]],
  [/^GET .*\/services\//, NOT_FOUND],
  [/\/(routes|secrets)$/, []],
  [/^GET .*\/versions\/version-of-r1$/, VERSIONS[0]],
  [/^GET .*\/versions\/version-of-r2$/, VERSIONS[1]],
  [/^GET .*\/versions$/, { items: VERSIONS }],
  [/^GET .*\/deployments$/, { deployments: DEPLOYMENTS }],
  [/^PUT .*\/scripts\/[^/]+$/, { id: 'script', startup_time_ms: 1 }],
  [/./, {}],
]

const asked: RequestContext[] = []
let server: Server
let folder: string

async function answer(request: IncomingMessage): Promise<unknown> {
  const path = new URL(request.url ?? '', 'http://cloudflare').pathname
  const method = request.method ?? ''
  asked.push({ method, path, body: await text(request) })
  return RESULTS.find(([pattern]) => pattern.test(`${method} ${path}`))?.[1]
}

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const result = await answer(request)
    response.setHeader('Content-Type', 'application/json')
    const success = result !== NOT_FOUND
    response.statusCode = success ? 200 : 404
    response.end(JSON.stringify({ success, errors: success ? [] : [result], messages: [], result }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  folder = await mkdtemp(join(tmpdir(), 'cloudflare-'))
  vi.stubEnv('PATH', `${resolve('node_modules/.bin')}${delimiter}${process.env.PATH}`)
  vi.stubEnv('HOME', folder)
  vi.stubEnv('CLOUDFLARE_API_TOKEN', 'token-of-cloudflare')
  vi.stubEnv(
    'CLOUDFLARE_API_BASE_URL',
    `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/v4`,
  )
  vi.spyOn(console, 'log').mockImplementation(() => undefined)
})

afterAll(async () => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  server.close()
  await rm(folder, { recursive: true, force: true })
})

const file = await readWranglerFile()
const { brands } = file.env
const one = { ...file, env: brands === undefined ? {} : { brands } }

test('the account is found by its token', async () => {
  expect(await missingAccount({ CLOUDFLARE_API_TOKEN: 'token-of-cloudflare' })).toEqual([])
})

test('a Worker is sent with its secrets, its tag and its settings as one version, and then its route', async () => {
  const { settings } = readSettings({
    DATABASE_URL: 'postgresql://reader:pw@db.example/x',
    CURSOR_SECRET: 'c'.repeat(32),
  })
  const site = { host: 'api.example.com', zone: 'example.com', region: 'aws:eu-central-1' }
  await deployWorkers({ file: one, site, settings, release: 'r3' })
  const sent = asked.find(
    ({ method, path }) => method === 'PUT' && path.endsWith('/scripts/export-api-brands'),
  )
  const [metadata = ''] = /\{"main_module.*\}/.exec(sent?.body ?? '') ?? []
  expect(JSON.parse(metadata)).toMatchObject({
    bindings: expect.arrayContaining([
      { name: 'DATABASE_URL', type: 'secret_text', text: 'postgresql://reader:pw@db.example/x' },
      { name: 'CURSOR_SECRET_PREVIOUS', type: 'secret_text', text: 'c'.repeat(32) },
    ]),
    placement: { region: 'aws:eu-central-1' },
    limits: { cpu_ms: 1000 },
    observability: { enabled: true, logs: { invocation_logs: false } },
    annotations: { 'workers/tag': 'r3' },
  })
  const routed = asked.find(({ method, path }) => method === 'PUT' && path.endsWith('/routes'))
  expect(JSON.parse(routed?.body ?? '')).toEqual([
    { pattern: 'api.example.com/api/export/v1/brands*', zone_name: 'example.com' },
  ])
  expect(
    JSON.parse(
      asked.find(({ path, method }) => method === 'POST' && path.endsWith('/subdomain'))?.body ?? '',
    ),
  ).toEqual({
    enabled: false,
    previews_enabled: false,
  })
})

test('a Worker goes back to the version before the newest release', async () => {
  const config = join(folder, 'wrangler.json')
  await writeFile(config, JSON.stringify(wranglerConfig(one)))
  const returns = await returnsOf(config, ['brands'])
  expect(returns).toMatchObject([{ name: 'brands', live: { release: 'r2' }, to: { id: 'version-of-r1' } }])
  await rollBack(config, returns)
  const back = asked.findLast(({ method, path }) => method === 'POST' && path.endsWith('/deployments'))
  expect(JSON.parse(back?.body ?? '')).toMatchObject({
    versions: [{ version_id: 'version-of-r1', percentage: 100 }],
  })
})
