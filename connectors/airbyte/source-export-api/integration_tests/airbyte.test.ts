import { execFile, spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, inject, onTestFinished, test } from 'vitest'
import { database, refresh } from '../../../../test/fixtures/rows.ts'
import { scene } from '../../../../test/fixtures/scene.ts'
import { certify } from '../../../certify/certify.ts'
import type { Ended, Environment } from '../../../certify/command.ts'
import { startLocalServer } from '../../../certify/local-server.ts'
import { environment } from '../../../python-environment.ts'
import { compileExactModels } from '../../../test-support/exact-models.ts'

const CONNECTOR = fileURLToPath(new URL('../', import.meta.url))
const SYNC = fileURLToPath(new URL('airbyte-sync.py', import.meta.url))

const run = promisify(execFile)
const db = database()
const bin = await environment('airbyte')
const folder = await mkdtemp(join(tmpdir(), 'airbyte-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

test('the standard tests of Airbyte pass, which validate each record by its schema', async () => {
  const { say, rival, key } = await scene(db, { name: 'Acme' })
  const globex = await rival('Globex')
  await say('2026-10-05T12:00:00Z', {
    mentions: ['Acme', 'Globex'],
    citations: [
      { url: 'https://a.example/', domain: 'a.example', owned: true },
      { url: 'https://b.example/', domain: null },
    ],
    phrases: [{ polarity: 'positive', confidence: '0.5' }],
    judged: [
      { competitor: null, recommended: true },
      { competitor: globex, recommended: false },
    ],
  })
  // A day without a score.
  await say('2026-11-07T12:00:00Z', { phrases: [{ polarity: 'neutral', confidence: '0.5' }] })
  await refresh(db)

  const connector = join(folder, 'source-export-api')
  await cp(CONNECTOR, connector, { recursive: true })
  await mkdir(join(connector, 'secrets'), { recursive: true })
  const config = { base_url: inject('serviceUrl'), api_key: key, start_date: '2026-01-01' }
  await writeFile(join(connector, 'secrets/config.json'), JSON.stringify(config))
  await writeFile(
    join(connector, 'secrets/revoked.json'),
    JSON.stringify({ ...config, api_key: 'svc_live_0' }),
  )

  // The tests in containers need Docker.
  const options = ['-k', 'not docker', '-Werror::airbyte_cdk.test.standard_tests.DiscoveredCatalogWarning']
  const { stdout } = await run(
    join(bin, 'airbyte-cdk'),
    ['connector', 'test', connector, ...options.map((option) => `--pytest-arg=${option}`)],
    { cwd: folder, env: { ...process.env, PATH: `${bin}:${process.env.PATH}` } },
  )
  // Specification, configuration, check with a key and with another, discovery, read, a bad catalog.
  expect(stdout).toMatch(/\b7 passed, .* deselected/)
})

const METADATA = `
import sys, yaml
from airbyte_connector_models.metadata.v0.connector_metadata_definition_v0 import ConnectorMetadataDefinitionV0
from pydantic import ValidationError
try:
    ConnectorMetadataDefinitionV0.model_validate(yaml.safe_load(open(sys.argv[1], encoding="utf-8")))
except ValidationError as error:
    print(*(f"{'.'.join(problem['loc'])}: {problem['msg']}" for problem in error.errors()), sep="\\n")
`

test('metadata.yaml lacks only what a person decides', async () => {
  const { stdout } = await run(join(bin, 'python'), ['-c', METADATA, join(CONNECTOR, 'metadata.yaml')])
  expect(stdout).toBe('data.license: Field required\ndata.documentationUrl: Field required\n')
})

/** A password for this host, which requests would send in Authorization. */
const NETRC = join(folder, 'netrc')
await writeFile(NETRC, 'machine 127.0.0.1 login someone password other')

/** Checks a connection. Returns what the connector says of it. */
async function check(base_url: string, api_key: string, start_date: string): Promise<unknown> {
  const file = join(folder, 'config.json')
  await writeFile(file, JSON.stringify({ base_url, api_key, start_date }))
  const args = ['check', '--manifest-path', `${CONNECTOR}manifest.yaml`, '--config', file]
  const { stdout } = await run(join(bin, 'source-declarative-manifest'), args, {
    env: { ...process.env, NETRC },
  })
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '').connectionStatus
}

test('a start date that is no day of the calendar fails the check', async () => {
  const { key } = await scene(db)
  expect(await check(inject('serviceUrl'), key, '2026-11-31')).toMatchObject({
    status: 'FAILED',
    message: expect.stringContaining('Parameter start_date must be a calendar date in the format YYYY-MM-DD'),
  })
})

test('addresses and keys are read as people paste them, and no message shows a key', async () => {
  const received: unknown[] = []
  const server = await startLocalServer(({ url, headers }, response) => {
    received.push([url, headers['x-api-key'], headers.authorization])
    response.writeHead(401).end('{"error":"Rejected."}')
  })
  onTestFinished(server.close)
  const rejected = { status: 'FAILED', message: expect.stringContaining('Rejected.') }
  for (const end of ['/', '/api/export/v1', '/api/export/v1/\n'])
    expect(await check(server.url + end, ' svc_live_0\r\n', '2026-01-01')).toMatchObject(rejected)
  const headers = ['svc_live_0', 'Bearer svc_live_0']
  expect(received).toEqual(Array(3).fill(['/api/export/v1/brands', ...headers]))
  const wrong = await check(server.url, 'hidden\nclé', '2026-01-01')
  expect(wrong).toMatchObject(rejected)
  expect(JSON.stringify(wrong)).not.toContain('hidden')
})

test('a service that asks for a long wait is an error, and a wait that is no number is ignored', async () => {
  const waits = ['-5', '99999999999']
  const server = await startLocalServer((_, response) =>
    response.writeHead(503, { 'Retry-After': waits.shift() }).end('{}'),
  )
  const status = await check(server.url, 'svc_live_0', '2026-01-01').finally(server.close)
  expect(status).toMatchObject({ status: 'FAILED', message: expect.stringContaining('longer than') })
  expect(waits).toEqual([])
})

test('keeps the promises of a loader with the proof of dbt, but for a plan that reaches further back', async () => {
  const own = join(folder, 'sync')
  await mkdir(own)
  const file = join(own, 'export.duckdb')
  const models = await compileExactModels({ loader: 'airbyte', file, schema: 'main', folder: own })
  const python = spawn(join(bin, 'python'), [SYNC, `${CONNECTOR}manifest.yaml`, models], {
    cwd: own,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const endings = createInterface(python.stdout)[Symbol.asyncIterator]()
  /** Syncs and proves the copy. */
  const sync = async (environment: Environment): Promise<Ended> => {
    python.stdin.write(`${JSON.stringify(environment)}\n`)
    const { value = 'null' } = await endings.next()
    return JSON.parse(value)
  }
  const isUnproven = ({ output }: Ended) => output.includes('equals_changes')
  let last: Ended = { code: 0, output: '' }
  const verdicts = await certify({
    command: async (environment) => {
      const before = last
      last = await sync(environment)
      // The README asks for a refresh when the proof fails after two syncs in a row.
      if (isUnproven(before) && isUnproven(last)) {
        for (const name of ['state.json', 'export.duckdb']) await rm(join(own, name))
        last = await sync(environment)
      }
      return last
    },
    copy: 'duckdb:export.duckdb',
    schema: 'exact',
    folder: own,
  }).finally(() => python.stdin.end())
  // `/brands`, and `/changes` of two brands.
  expect(verdicts[1]?.requests).toBe(3)
  expect(verdicts.filter(({ kept }) => !kept)).toEqual([
    // Its state has no place for the first day that the plan reached.
    expect.objectContaining({ promise: 'A plan that reaches further back again completes the copy.' }),
  ])
})
