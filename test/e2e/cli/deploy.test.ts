import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest'
import { readWranglerFile } from '../../../bundle/wrangler-config.ts'
import { missingAccount } from '../../../cli/deploy/account.ts'
import { deployRelease } from '../../../cli/deploy/release.ts'
import { returnsOf, rollBack } from '../../../cli/deploy/rollback.ts'
import { readSettings, regionOf } from '../../../cli/deploy/settings.ts'
import { deployWorkers } from '../../../cli/deploy/workers.ts'
import { UsageError } from '../../../drizzle/db/connect.ts'
import { startEmbeddedPostgres } from '../../../emulator/postgres/embedded.ts'
import { withClient } from '../../support/database.ts'
import { type FakeWrangler, fakeWrangler } from '../../support/wrangler.ts'

const DEPLOY = fileURLToPath(new URL('../../../cli/deploy.ts', import.meta.url))
const ROLLBACK = fileURLToPath(new URL('../../../cli/rollback.ts', import.meta.url))

const ENVIRONMENT = {
  CLOUDFLARE_ZONE: 'example.com',
  API_URL: 'https://api.example.com',
  MIGRATE_DATABASE_URL: 'postgresql://owner:pw-owner@ep-a-1.eu-central-1.aws.neon.tech/export',
  DATABASE_URL: 'postgresql://export_api_reader:pw-reader@ep-a-1-pooler.eu-central-1.aws.neon.tech/export',
  REFRESH_DATABASE_URL:
    'postgresql://export_api_refresher:pw-refresher@ep-a-1.eu-central-1.aws.neon.tech/export',
  UPSTASH_REDIS_REST_URL: 'https://cache.upstash.io',
  UPSTASH_REDIS_REST_TOKEN: 'token-of-upstash',
  CURSOR_SECRET: 'cursor-secret-of-thirty-two-characters',
}
const SECRETS = ['pw-owner', 'pw-reader', 'pw-refresher', 'token-of-upstash', ENVIRONMENT.CURSOR_SECRET]

const file = await readWranglerFile()
const workers = Object.keys(file.env)
const { settings } = readSettings(ENVIRONMENT)
const site = { host: 'api.example.com', zone: 'example.com', region: undefined }

let wrangler: FakeWrangler
let folder: string
let said: string[]

beforeEach(async () => {
  wrangler = await fakeWrangler()
  for (const [name, value] of Object.entries(wrangler.environment)) vi.stubEnv(name, value)
  folder = await mkdtemp(join(tmpdir(), 'deploy-test-'))
  said = []
  vi.spyOn(console, 'log').mockImplementation((line) => said.push(line))
})

afterEach(async () => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  await wrangler.remove()
  await rm(folder, { recursive: true })
})

/** Runs a command in a folder of its own, so that no settings of whoever runs the tests are found. */
function command(path: string, args: readonly string[], environment: Readonly<Record<string, string>>) {
  const env = { ...wrangler.environment, TMPDIR: folder, ...environment }
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(process.execPath, [path, ...args], { cwd: folder, env }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    )
  })
}

// As many as it takes: each costs a run of wrangler, and a rollback three.
const few = ['openapi', 'sentiment', 'refresh']
const fewer = {
  ...file,
  env: Object.fromEntries(Object.entries(file.env).filter(([name]) => few.includes(name))),
}

const release = (name: string) => deployWorkers({ file: fewer, site, settings, release: name })

const calls = async () => (await wrangler.read()).calls
const deployed = async () =>
  (await calls())
    .filter(({ args }) => args[0] === 'deploy')
    .map(({ args }) => args[args.indexOf('--env') + 1])

describe('npm run deploy', () => {
  test('names everything that is missing at once, each in a sentence, and does nothing', async () => {
    await wrangler.change({ who: { loggedIn: false } })
    const { code, stdout, stderr } = await command(DEPLOY, [], {})
    expect([code, stdout]).toEqual([1, ''])
    const sentences = stderr.trimEnd().split('\n')
    expect(sentences.map((line) => line.split(' ')[0])).toEqual([
      ...Object.keys(ENVIRONMENT),
      'CLOUDFLARE_API_TOKEN',
    ])
    for (const sentence of sentences) expect(sentence).toMatch(/^\w+ is not set.*\.$/)
    expect(await deployed()).toEqual([])
  })

  test('--dry-run shows every step in order and does none of them', async () => {
    const { code, stdout, stderr } = await command(DEPLOY, ['--dry-run'], ENVIRONMENT)
    expect([code, stderr]).toEqual([0, ''])
    const steps = stdout.trimEnd().split('\n')
    expect(steps).toHaveLength(workers.length + 4)
    expect(steps[0]).toMatch(/^release [0-9a-f]{12}(-changed)? +in aws:eu-central-1/)
    expect(steps[1]).toMatch(/^migrate +ep-a-1\.eu-central-1/)
    expect(steps[3]).toMatch(/^deploy refresh +cron /)
    expect(steps.at(-2)).toMatch(/^deploy openapi +api\.example\.com\/api\/export\/v1\/\*$/)
    expect(steps.at(-1)).toMatch(/^smoke +https:\/\/api\.example\.com$/)
    for (const secret of SECRETS) expect(stdout).not.toContain(secret)
    expect((await calls()).map(({ args }) => args[0])).toEqual(['whoami'])
  })

  test('--dry-run shows the steps and what is missing where nothing is set', async () => {
    await wrangler.change({ who: { loggedIn: false } })
    const { code, stdout, stderr } = await command(DEPLOY, ['--dry-run'], {})
    expect(code).toBe(1)
    expect(stdout).toContain('migrate')
    expect(stdout).toContain('(API_URL)/api/export/v1/brands*')
    expect(stderr.trimEnd().split('\n')).toHaveLength(9)
  })

  test('a token that is not taken is told apart from one that is not there', async () => {
    await wrangler.change({ who: { loggedIn: false } })
    expect(await missingAccount({ CLOUDFLARE_API_TOKEN: 'x' })).toEqual([
      expect.stringContaining('not taken'),
    ])
    expect(await missingAccount({})).toEqual([expect.stringContaining('is not set')])
  })

  test('settings may stand in .dev.vars, and the environment goes before', async () => {
    const lines = Object.entries(ENVIRONMENT).map(([name, value]) => `${name}=${value}`)
    await writeFile(join(folder, '.dev.vars'), lines.join('\n'))
    const { code, stdout } = await command(DEPLOY, ['--dry-run'], { API_URL: 'https://other.example.com' })
    expect(code).toBe(0)
    expect(stdout).toContain('https://other.example.com')
  })

  test('of several accounts one has to be named', async () => {
    const accounts = ['1', '2'].map((n) => ({ id: `account-${n}`, name: `Number ${n}` }))
    await wrangler.change({ who: { loggedIn: true, accounts } })
    expect(await missingAccount({})).toEqual([
      'CLOUDFLARE_ACCOUNT_ID is not set, and there are several: account-1 (Number 1), account-2 (Number 2).',
    ])
    expect(await missingAccount({ CLOUDFLARE_ACCOUNT_ID: 'x' })).toEqual([
      expect.stringContaining('CLOUDFLARE_ACCOUNT_ID is none that the login reaches'),
    ])
    expect(await missingAccount({ CLOUDFLARE_ACCOUNT_ID: 'account-2' })).toEqual([])
  })
})

test.for([
  ['CLOUDFLARE_ZONE', 'https://example.com'],
  ['API_URL', 'http://api.example.com'],
  ['API_URL', 'https://api.example.com/api/export/v1'],
  ['API_URL', 'https://example.org'],
  ['MIGRATE_DATABASE_URL', 'mysql://owner:pw-owner@host/export'],
  ['MIGRATE_DATABASE_URL', 'postgresql://owner:pw-owner@ep-a-1-pooler.eu-central-1.aws.neon.tech/export'],
  ['DATABASE_URL', 'postgresql://owner:pw-owner@ep-a-1.eu-central-1.aws.neon.tech/export'],
  ['REFRESH_DATABASE_URL', 'pw-refresher'],
  ['UPSTASH_REDIS_REST_URL', 'rediss://cache.upstash.io'],
  ['CURSOR_SECRET', 'short'],
  ['CURSOR_SECRET_PREVIOUS', 'short'],
  ['SESSION_COOKIE', 'two words'],
])('%s=%s is one sentence that names it and tells no value', ([name = '', value = '']) => {
  const { wrong } = readSettings({ ...ENVIRONMENT, [name]: value })
  expect(wrong).toEqual([expect.stringMatching(new RegExp(`^${name} .*\\.$`))])
  expect(wrong.join()).not.toContain(value)
})

test('the region of a database is told by a host of Neon, and by no other', () => {
  const at = (host: string) => regionOf(`postgresql://me:secret@${host}/x`)
  expect(at('ep-a-1-pooler.us-east-2.aws.neon.tech')).toBe('aws:us-east-2')
  expect(at('ep-a-1.c-2.ap-southeast-1.aws.neon.tech')).toBe('aws:ap-southeast-1')
  expect(at('ep-a-1.eastus2.azure.neon.tech')).toBeUndefined()
  expect(at('db.example.com')).toBeUndefined()
})

describe('the Workers', () => {
  test('go live scheduled first and catch-all last, each with its route, its secrets and the release', async () => {
    await deployWorkers({ file, site: { ...site, region: 'aws:eu-central-1' }, settings, release: 'r1' })
    const all = await calls()
    expect((await deployed()).toSorted()).toEqual(workers.toSorted())
    expect([(await deployed())[0], (await deployed()).at(-1)]).toEqual(['refresh', 'openapi'])
    for (const { args, stdin, config, secrets } of all) {
      const name = args[args.indexOf('--env') + 1] ?? ''
      for (const secret of SECRETS)
        expect([...args, stdin, JSON.stringify(config)].join()).not.toContain(secret)
      const role = name === 'refresh' ? 'REFRESH_DATABASE_URL' : 'DATABASE_URL'
      if (name === 'docs') expect(secrets).toBeUndefined()
      else
        expect(secrets).toEqual({
          DATABASE_URL: ENVIRONMENT[role],
          UPSTASH_REDIS_REST_URL: ENVIRONMENT.UPSTASH_REDIS_REST_URL,
          UPSTASH_REDIS_REST_TOKEN: ENVIRONMENT.UPSTASH_REDIS_REST_TOKEN,
          CURSOR_SECRET: ENVIRONMENT.CURSOR_SECRET,
          CURSOR_SECRET_PREVIOUS: ENVIRONMENT.CURSOR_SECRET,
          SESSION_COOKIE: 'session',
        })
      const pattern = file.env[name]?.route?.replace('*', 'api.example.com')
      expect(config?.env[name]?.routes).toEqual(pattern && [{ pattern, zone_name: 'example.com' }])
      expect(config).toMatchObject({ placement: { region: 'aws:eu-central-1' }, workers_dev: false })
      expect(config).not.toHaveProperty('build')
    }
    expect(new Set(Object.values(await wrangler.live()))).toEqual(new Set(['r1']))
  })

  test('a failure in the middle stops, says which are new, which are old and what to do, and leaves no secret behind', async () => {
    await release('r1')
    const reason = `limits are not for the free plan ${ENVIRONMENT.CURSOR_SECRET} [code: 100328]`
    vi.stubEnv('TMPDIR', folder)
    await wrangler.change({ fails: ['sentiment'], reason })
    const failure = await release('r2').then(String, (error) => error)
    expect(failure).toBeInstanceOf(UsageError)
    expect(failure.message).toContain(
      'sentiment could not be deployed: A request to the Cloudflare API failed.',
    )
    expect(failure.message).toContain('Workers Paid')
    expect(failure.message).not.toContain(ENVIRONMENT.CURSOR_SECRET)
    const live = await wrangler.live()
    const [, fresh = '', old = ''] = /New: (.*)\. As before: (.*)\. Either/.exec(failure.message) ?? []
    for (const name of fresh.split(', ')) expect([name, live[name]]).toEqual([name, 'r2'])
    for (const name of old.split(', ')) expect([name, live[name]]).toEqual([name, 'r1'])
    expect([fresh, old]).toEqual(['refresh', 'openapi'])
    expect(failure.message).toContain('npm run rollback')
    expect(await readdir(folder)).toEqual([])
  })
})

describe('a rollback', () => {
  let config: string

  beforeEach(async () => {
    config = join(folder, 'wrangler.json')
    await writeFile(config, '{}')
  })

  const back = async () => rollBack(config, await returnsOf(config, few))
  const releases = async () => [...new Set(Object.values(await wrangler.live()))].toSorted()

  test('brings every Worker to the release before, and then to the one before that', async () => {
    for (const name of ['r1', 'r2', 'r3']) await release(name)
    await back()
    expect(await releases()).toEqual(['r2'])
    await back()
    expect(await releases()).toEqual(['r1'])
    await expect(back()).rejects.toThrow('nothing to go back to')
    await release('r4')
    await back()
    expect(await releases()).toEqual(['r1'])
  })

  test('takes back a release that was broken off, and one that was deployed twice, as a whole', async () => {
    await release('r1')
    await wrangler.change({ fails: ['sentiment'] })
    await expect(release('r2')).rejects.toThrow(UsageError)
    expect(await releases()).toEqual(['r1', 'r2'])
    await wrangler.change({ fails: [] })
    await back()
    expect(await releases()).toEqual(['r1'])
    await release('r2')
    await release('r2')
    await back()
    expect(await releases()).toEqual(['r1'])
  })

  test('that fails half-way says so, and goes on when it is begun again', async () => {
    for (const name of ['r1', 'r2']) await release(name)
    await wrangler.change({ fails: ['sentiment'] })
    await expect(back()).rejects.toThrow(
      /^sentiment could not be put back[\s\S]*Not back yet: sentiment, refresh/,
    )
    expect(await releases()).toEqual(['r1', 'r2'])
    await wrangler.change({ fails: [] })
    await back()
    expect(await releases()).toEqual(['r1'])
  })

  test('leaves alone a Worker that the release before did not have', async () => {
    await release('r1')
    const { versions, deployments } = await wrangler.read()
    await wrangler.change({
      versions: { ...versions, sentiment: [] },
      deployments: { ...deployments, sentiment: [] },
    })
    await release('r2')
    await back()
    expect(await wrangler.live()).toMatchObject({ openapi: 'r1', sentiment: 'r2', refresh: 'r1' })
  })

  test('--dry-run says what would be done, the document first, and does nothing', async () => {
    for (const name of ['r1', 'r2']) await release(name)
    const { code, stdout, stderr } = await command(ROLLBACK, ['--dry-run'], {})
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.trimEnd().split('\n')
    expect(lines[0]).toMatch(/^openapi +r2 goes back to r1$/)
    expect(lines).toHaveLength(few.length)
    expect(await releases()).toEqual(['r2'])
  })

  test('without an account it says what is missing', async () => {
    await wrangler.change({ who: { loggedIn: false } })
    const { code, stderr } = await command(ROLLBACK, [], {})
    expect([code, stderr]).toEqual([1, expect.stringContaining('CLOUDFLARE_API_TOKEN')])
  })
})

describe('a whole release', () => {
  const wholeRelease = (changed: Partial<typeof settings>, url = inject('serviceUrl')) =>
    deployRelease({ name: 'r1', file: fewer, settings: { ...settings, ...changed } }, { url })

  test('migrates, logs in as the Workers do, deploys and tries the service', async () => {
    const { url, stop } = await startEmbeddedPostgres()
    const as = (role: string) => url.replace('postgres:postgres@', `${role}:pw@`)
    const addresses = {
      MIGRATE_DATABASE_URL: url,
      DATABASE_URL: as('export_api_reader'),
      REFRESH_DATABASE_URL: as('export_api_refresher'),
    }
    try {
      await wholeRelease(addresses)
      const { rows } = await withClient(url, (client) =>
        client.query('select metric from daily.sources limit 1'),
      )
      expect(rows).toHaveLength(1)
      expect((await deployed()).length).toBe(few.length)
      expect(said.join('\n')).toMatch(
        /current schema[\s\S]*refresh +cron[\s\S]*r1 is live[\s\S]*a wrong key +refused/,
      )

      await expect(wholeRelease({ ...addresses, REFRESH_DATABASE_URL: `${as('x')}_other` })).rejects.toThrow(
        /^REFRESH_DATABASE_URL cannot be used/,
      )
      expect((await deployed()).length).toBe(few.length)
    } finally {
      await stop()
    }
  })

  test('a database that cannot be used ends it before any Worker is touched', async () => {
    const gone = 'postgresql://owner:pw-owner@127.0.0.1:1/export'
    await expect(wholeRelease({ MIGRATE_DATABASE_URL: gone })).rejects.toThrow(
      /^MIGRATE_DATABASE_URL cannot be used: connect ECONNREFUSED/,
    )
    expect(await calls()).toEqual([])
  })
})
