import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest'
import { deployRelease } from '../../../cli/deploy/release.ts'
import { readSettings } from '../../../cli/deploy/settings.ts'
import { deployWorkers } from '../../../cli/deploy/workers.ts'
import { readWranglerFile } from '../../../cli/workers/wrangler-config.ts'
import { runCommand } from '../../fixtures/command.ts'
import { withClient } from '../../fixtures/database.ts'
import { DEPLOY_ENVIRONMENT as ENVIRONMENT } from '../../fixtures/deploy-environment.ts'
import { FAKE_WRANGLER, type RecordedWrangler, recordWrangler } from '../../fixtures/wrangler.ts'

const SECRET = /pw-|token-of|cursor-secret/

const { settings } = readSettings(ENVIRONMENT)
const wranglerFile = await readWranglerFile()
const deployed = ['refresh', 'sentiment', 'openapi']
const file = {
  ...wranglerFile,
  env: Object.fromEntries(Object.entries(wranglerFile.env).filter(([name]) => deployed.includes(name))),
}

let wrangler: RecordedWrangler
let folder: string
let output: string[]

beforeEach(async () => {
  wrangler = await recordWrangler()
  folder = await mkdtemp(join(tmpdir(), 'deploy-test-'))
  for (const [name, value] of Object.entries(wrangler.environment)) vi.stubEnv(name, value)
  vi.stubEnv('TMPDIR', folder)
  output = []
  vi.spyOn(console, 'log').mockImplementation((line) => output.push(line))
})

afterEach(async () => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  await wrangler.remove()
  await rm(folder, { recursive: true })
})

const calledFor = async () => (await wrangler.calls()).map(({ worker }) => worker)

describe('npm run deploy', () => {
  test('needs a commit', async () => {
    const environment = { ...wrangler.environment, GIT_DIR: folder }
    expect(await runCommand('deploy.ts', ['--dry-run'], environment, { cwd: folder })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'git does not name the commit of this folder. Deploy from a clone.\n',
    })
  })

  test('--dry-run prints every step in order, and what is missing in .dev.vars and the environment', async () => {
    const { API_URL, CURSOR_SECRET: _, ...rest } = ENVIRONMENT
    const lines = Object.entries(rest).map(([name, value]) => `${name}=${value}`)
    // An editor may have written a byte order mark.
    const file = `\uFEFF${lines.join('\n')}\nAPI_URL=https://other.example.com`
    await writeFile(join(folder, '.dev.vars'), file)
    const environment = {
      ...wrangler.environment,
      API_URL,
      SHARE_BUCKET: 'brand-data',
      NAME_PREFIX: 'staging-',
    }
    const result = await runCommand('deploy.ts', ['--dry-run'], environment, { cwd: folder })
    expect(result).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^CURSOR_SECRET is not set.*\n.*\.dev\.vars.*\n$/),
    })
    const steps = result.stdout.trimEnd().split('\n')
    expect(steps).toHaveLength(Object.keys(wranglerFile.env).length + 5)
    expect(steps[0]).toMatch(/^commit [0-9a-f]+(-dirty)? +placed in aws:eu-central-1$/)
    expect(steps[1]).toMatch(/^migrate +ep-a-1\.eu-central-1/)
    expect(steps[3]).toMatch(/^deploy staging-export-api-refresh +cron \* \* \* \* \*$/)
    expect(steps.at(-3)).toMatch(
      /^deploy staging-export-api-openapi +api\.example\.com\/api\/export\/v1\/\*$/,
    )
    expect(steps.at(-2)).toMatch(/^activate new fields +ep-a-1\.eu-central-1/)
    expect(steps.at(-1)).toMatch(/^smoke +https:\/\/api\.example\.com$/)
    expect(result.stdout + result.stderr).not.toMatch(SECRET)
    expect(await wrangler.calls()).toEqual([])
  })
})

test('a failure stops the deployment, says what is live, and prints and leaves no secret', async () => {
  vi.stubEnv('FAKE_WRANGLER_FAILS', 'sentiment')
  const error: Error = await deployWorkers({ file, settings, commit: 'abc' }, FAKE_WRANGLER).catch(
    (error) => error,
  )
  expect(error.message).toContain(
    'wrangler could not deploy sentiment:\n✘ [ERROR] A request to the Cloudflare',
  )
  expect(error.message).toContain('New version: refresh. Previous version: openapi. Unknown: sentiment.')
  expect(error.message).not.toMatch(SECRET)
  expect(await calledFor()).toEqual(['refresh', 'sentiment'])
  expect(await readdir(folder)).toEqual([])
})

/** Deploys the Workers of wrangler.toml with the fake wrangler, in a process of its own. */
const DEPLOYS = `
  import { readWranglerFile } from './cli/workers/wrangler-config.ts'
  import { readSettings } from './cli/deploy/settings.ts'
  import { deployWorkers } from './cli/deploy/workers.ts'
  const { settings } = readSettings(process.env)
  await deployWorkers({ file: await readWranglerFile(), settings, commit: 'abc' }, ${JSON.stringify(FAKE_WRANGLER)})`

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s ends a deployment and wrangler, and leaves no secret', async (signal, exitCode) => {
  const env = { ...process.env, ...ENVIRONMENT, FAKE_WRANGLER_HANGS: 'share-publish' }
  const child = spawn(process.execPath, ['--input-type=module', '--eval', DEPLOYS], { env })
  const closed = once(child, 'close')
  await expect.poll(calledFor).toEqual(['refresh', 'share-publish'])
  expect(await readdir(folder)).toHaveLength(1)
  child.kill(signal)
  expect(await closed).toEqual([exitCode, null])
  expect(await readdir(folder)).toEqual([])
  await expect.poll(async () => (await wrangler.calls()).at(-1)).toEqual({ args: [], signal: 'SIGTERM' })
})

test('a deployment that npm starts with the Node of the packages runs on the Node of npm', async () => {
  const node = join(folder, 'node')
  await writeFile(node, '#!/bin/sh\necho "$@"\n', { mode: 0o755 })
  const env = { ...process.env, npm_node_execpath: node }
  const { stdout } = await promisify(execFile)(process.execPath, ['cli/main.mjs', 'deploy', '--dry-run'], {
    env,
  })
  expect(stdout).toBe('cli/main.mjs deploy --dry-run\n')
})

test('a deployment needs the Node that wrangler needs', async () => {
  const older = "data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '20.19.0' })"
  const deploying = promisify(execFile)(process.execPath, ['--import', older, 'cli/main.mjs', 'deploy'], {
    env: { ...process.env, npm_node_execpath: process.execPath },
  })
  await expect(deploying).rejects.toMatchObject({
    stderr:
      'npm run deploy needs Node 22.0 or later, and this is Node 20.19.0. Install a newer Node and try again.\n',
  })
})

// The roles have no passwords yet, which only the embedded server accepts.
describe.skipIf(inject('realPostgres'))('a release', () => {
  const url = inject('databaseUrl')
  const as = (role: string) => url.replace('postgres:postgres@', `${role}:pw@`)
  const databases = {
    MIGRATE_DATABASE_URL: url,
    DATABASE_URL: as('export_api_reader'),
    REFRESH_DATABASE_URL: as('export_api_refresher'),
  }
  const release = (changed: Partial<typeof settings>) =>
    deployRelease(
      { file, settings: { ...settings, ...databases, ...changed }, commit: 'abc' },
      { url: inject('serviceUrl') },
      FAKE_WRANGLER,
    )

  const query = (sql: string) => withClient(url, (client) => client.query(sql))

  test('migrates, deploys the Workers in order, by this Node, with secrets in files only, and tests the service', async () => {
    vi.stubEnv('PATH', '')
    await release({})
    expect(await calledFor()).toEqual(deployed)
    for (const { args, node, config, secrets } of await wrangler.calls()) {
      expect(node).toBe(process.execPath)
      expect(args.join(' ')).toMatch(/^deploy --config \S+ --env \w+ --tag abc --secrets-file \S+$/)
      expect([...args, JSON.stringify(config)].join()).not.toMatch(SECRET)
      expect(secrets).toHaveProperty('CURSOR_SECRET', ENVIRONMENT.CURSOR_SECRET)
    }
    expect(await readdir(folder)).toEqual([])
    expect(output.join('\n')).toMatch(
      /current schema[\s\S]*refresh +cron[\s\S]*is live[\s\S]*a wrong key +rejected/,
    )
  })

  test('lists days again after the last Worker, which a failure postpones', async () => {
    await query(`update daily.row_schemas set listed = false where metric = 'sentiment'`)
    const unlisted = async () => (await query('select metric from daily.row_schemas where not listed')).rows
    vi.stubEnv('FAKE_WRANGLER_FAILS', 'openapi')
    await expect(release({})).rejects.toThrow('wrangler could not deploy openapi')
    expect(await unlisted()).toEqual([{ metric: 'sentiment' }])
    vi.stubEnv('FAKE_WRANGLER_FAILS', undefined)
    await release({})
    expect(await unlisted()).toEqual([])
  })

  test.for([
    ['MIGRATE_DATABASE_URL', 'postgresql://owner:pw-owner@127.0.0.1:1/export'],
    ['REFRESH_DATABASE_URL', `${as('x')}_other`],
  ])('deploys nothing when %s cannot be used', async ([name = '', value = '']) => {
    await expect(release({ [name]: value })).rejects.toThrow(new RegExp(`\\b${name}\\b`))
    expect(await calledFor()).toEqual([])
  })
})
