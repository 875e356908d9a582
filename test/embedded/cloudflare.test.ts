import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { readSettings } from '../../cli/deploy/settings.ts'
import { deployWorkers } from '../../cli/deploy/workers.ts'
import { readWranglerFile } from '../../cli/workers/wrangler-config.ts'
import { DEPLOY_ENVIRONMENT } from '../fixtures/deploy-environment.ts'

// The real wrangler deploys one Worker to an imitation of Cloudflare's API.

const SERVICE_NOT_FOUND = { code: 10090, message: 'This service does not exist.' }

const metadata = { created_on: '2026-11-01T00:00:00Z', source: 'wrangler', author_email: 'me@mail.example' }
const VERSION = {
  id: 'version-1',
  number: 1,
  metadata,
  resources: { bindings: [], script: { handlers: [] } },
}
const DEPLOYMENT = {
  ...metadata,
  id: 'deployment-1',
  versions: [{ version_id: VERSION.id, percentage: 100 }],
}

const RESULTS: readonly (readonly [RegExp, unknown])[] = [
  [/^GET .*\/tokens\/verify$/, { id: 'token', status: 'active' }],
  [/^GET .*\/user$/, { id: 'user', email: 'me@mail.example' }],
  [/^GET .*\/accounts$/, [{ id: 'account-1', name: 'Mine' }]],
  [/^GET .*\/memberships$/, [{ account: { id: 'account-1', name: 'Mine' } }]],
  [/^GET .*\/zones$/, [{ id: 'zone-1', name: 'example.com' }]],
  [/^GET .*\/services\//, SERVICE_NOT_FOUND],
  [/\/(routes|secrets)$/, []],
  [/^GET .*\/versions$/, { items: [VERSION] }],
  [/^GET .*\/deployments$/, { deployments: [DEPLOYMENT] }],
  [/^PUT .*\/scripts\/[^/]+$/, { id: 'script', startup_time_ms: 1 }],
  [/./, {}],
]

const requests: { readonly call: string; readonly body: string }[] = []
let cloudflare: Server
let home: string

beforeAll(async () => {
  cloudflare = createServer(async (request, response) => {
    const call = `${request.method} ${new URL(request.url ?? '', 'http://cloudflare').pathname}`
    requests.push({ call, body: await text(request) })
    const result = RESULTS.find(([pattern]) => pattern.test(call))?.[1]
    const success = result !== SERVICE_NOT_FOUND
    response.writeHead(success ? 200 : 404, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify({ success, errors: success ? [] : [result], messages: [], result }))
  }).listen(0, '127.0.0.1')
  await once(cloudflare, 'listening')
  const address = cloudflare.address()
  home = await mkdtemp(join(tmpdir(), 'cloudflare-'))
  vi.stubEnv('HOME', home)
  vi.stubEnv('WRANGLER_LOG_SANITIZE', 'false')
  vi.stubEnv('CLOUDFLARE_API_TOKEN', DEPLOY_ENVIRONMENT.CLOUDFLARE_API_TOKEN)
  const port = typeof address === 'object' ? address?.port : ''
  vi.stubEnv('CLOUDFLARE_API_BASE_URL', `http://127.0.0.1:${port}/v4`)
  vi.spyOn(console, 'log').mockImplementation(() => undefined)
})

afterAll(async () => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  cloudflare.close()
  await rm(home, { recursive: true, force: true })
})

test('wrangler uploads code, secrets, tag and settings as one version, and then the route', async () => {
  const { env, ...shared } = await readWranglerFile()
  const file = { ...shared, env: env.brands === undefined ? {} : { brands: env.brands } }
  await deployWorkers({ file, settings: readSettings(DEPLOY_ENVIRONMENT).settings, commit: 'abc' })

  const bodyOf = (call: RegExp) => requests.find((request) => call.test(request.call))?.body ?? ''
  const [metadata = ''] = /\{"main_module.*\}/.exec(bodyOf(/^PUT .*\/scripts\/export-api-brands$/)) ?? []
  expect(JSON.parse(metadata)).toMatchObject({
    bindings: expect.arrayContaining([
      {
        name: 'OUTER_LIMITER',
        type: 'ratelimit',
        namespace_id: '1001',
        simple: { limit: 600, period: 60 },
      },
      { name: 'DATABASE_URL', type: 'secret_text', text: DEPLOY_ENVIRONMENT.DATABASE_URL },
      { name: 'CURSOR_SECRET_PREVIOUS', type: 'secret_text', text: DEPLOY_ENVIRONMENT.CURSOR_SECRET },
    ]),
    placement: { region: 'aws:eu-central-1' },
    limits: { cpu_ms: 300_000, subrequests: 10_000 },
    observability: {
      enabled: true,
      logs: { invocation_logs: false },
      traces: { enabled: false, destinations: [], head_sampling_rate: 0.05 },
    },
    annotations: { 'workers/tag': 'abc' },
  })
  expect(JSON.parse(bodyOf(/^PUT .*\/routes$/))).toEqual([
    { pattern: 'api.example.com/api/export/v1/brands*', zone_name: 'example.com' },
  ])
  expect(JSON.parse(bodyOf(/^POST .*\/subdomain$/))).toEqual({ enabled: false, previews_enabled: false })
  // wrangler's log of its requests would have the secrets.
  const written = await readdir(home, { recursive: true })
  expect(written.filter((name) => name.endsWith('.log'))).toEqual([])
})
