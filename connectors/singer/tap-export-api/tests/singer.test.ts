import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { startTlsServer } from '../../../../test/fixtures/tls-server.ts'
import { certify } from '../../../certify/certify.ts'
import { copyReader } from '../../../certify/copies.ts'
import { environment } from '../../../python-environment.ts'
import { readExactModels, readMetrics } from '../../../test-support/exact-models.ts'
import { startPostgres } from '../../../test-support/postgres.ts'
import { IN_ASCII, PYTHON_TESTS } from '../../../test-support/python.ts'

const PACKAGE = fileURLToPath(new URL('..', import.meta.url))
const SYNC = fileURLToPath(new URL('singer-sync.sh', import.meta.url))
let bin: string
beforeAll(async () => {
  bin = await environment('singer')
})

async function run(
  program: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<string> {
  const env = { PATH: process.env.PATH, ...IN_ASCII, ...variables }
  const options = { cwd: PACKAGE, env, maxBuffer: Number.POSITIVE_INFINITY }
  const { stdout } = await promisify(execFile)(join(bin, program), args, options).catch((error) => {
    throw new Error(`${program} failed:\n${error.stdout.slice(-4000)}${error.stderr.slice(-4000)}`)
  })
  return stdout
}

test('its own tests and those of the Singer SDK pass', async () => {
  const output = await run('pytest', ['-q', '-p', 'no:cacheprovider'], { PYTHONPATH: PYTHON_TESTS })
  expect(output).toMatch(/\d+ passed/)
  expect(output).not.toMatch(/failed|skipped/)
})

test('the tap reads REQUESTS_CA_BUNDLE, and ends at once for what no retry helps', async () => {
  const { url, certificate } = await startTlsServer((_, response) => response.writeHead(401).end('{}'))
  const sync = (key: string, more = {}) =>
    run('tap-export-api', ['--config=ENV'], {
      TAP_EXPORT_API_BASE_URL: url,
      TAP_EXPORT_API_API_KEY: key,
      TAP_EXPORT_API_START_DATE: '2026-01-01',
      ...more,
    })
  await expect(sync('key')).rejects.toThrow(/CERTIFICATE_VERIFY_FAILED.* set REQUESTS_CA_BUNDLE /)
  await expect(sync('key', { REQUESTS_CA_BUNDLE: certificate })).rejects.toThrow('401 Client Error')
  const wrong = sync('a hidden key')
  await expect(wrong).rejects.toThrow('Set api_key to your API key, without other characters.')
  await expect(wrong).rejects.not.toThrow('hidden')
})

test('the settings of meltano.yml let target-duckdb load a quote after many rows without one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'singer-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const meltano = await readFile(join(PACKAGE, 'meltano.yml'), 'utf8')
  const path = join(folder, 'copy.duckdb')
  const settings = { path, batch_size_rows: Number(/batch_size_rows: (\d+)/.exec(meltano)?.[1] ?? 100_000) }
  await writeFile(join(folder, 'config.json'), JSON.stringify({ ...settings, default_target_schema: 'main' }))
  const texts = [...Array.from({ length: 20_500 }, (_, number) => `row ${number}`), '"a", "b"']
  const properties = { id: { type: 'integer' }, text: { type: 'string' } }
  const messages = [
    { type: 'SCHEMA', stream: 'texts', schema: { properties }, key_properties: ['id'] },
    ...texts.map((text, id) => ({ type: 'RECORD', stream: 'texts', record: { id, text } })),
  ]
  await writeFile(
    join(folder, 'messages'),
    messages.map((message) => `${JSON.stringify(message)}\n`).join(''),
  )
  const target = join(await environment('target-duckdb'), 'target-duckdb')
  await promisify(execFile)('sh', ['-c', `${target} --config config.json <messages`], { cwd: folder })
  const tables = await copyReader({ copy: `duckdb:${path}`, schema: 'main', folder })(['texts'])
  expect(
    tables
      .get('texts')
      ?.rows.map(({ text }) => text)
      .sort(),
  ).toEqual(texts.sort())
})

test('target-postgres and target-duckdb keep the copy exact', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'singer-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  // The user of PostgreSQL passes through it.
  await chmod(folder, 0o755)
  const { home, stop } = await startPostgres(folder)
  onTestFinished(async () => void (await stop()))

  const schema = 'export_api'
  const file = join(folder, 'copy.duckdb')
  const targets = {
    'target-postgres': { sqlalchemy_url: `postgresql+psycopg://postgres@/postgres?host=${home}` },
    'target-duckdb': { path: file, hard_delete: true, flush_all_streams: true },
  }
  const command = [SYNC, join(bin, 'tap-export-api')]
  for (const [name, settings] of Object.entries(targets)) {
    const config = join(folder, `${name}.json`)
    await writeFile(config, JSON.stringify({ ...settings, default_target_schema: schema }))
    command.push(join(name === 'target-duckdb' ? await environment(name) : bin, name), config)
  }
  const copy = `postgres://postgres@/postgres?host=${home}`
  const verdicts = await certify({ command: command.join(' '), copy, schema })
  expect(verdicts.filter(({ kept }) => !kept)).toEqual([])
  expect(verdicts[1]?.requests).toBeLessThanOrEqual(2)

  const inPostgres = await readMetrics({ copy, schema, folder })
  expect(inPostgres.visibility).not.toEqual([])
  expect(await readMetrics({ copy: `duckdb:${file}`, schema, folder })).toEqual(inPostgres)
  expect(await readExactModels({ loader: 'singer', file, schema, folder })).toEqual(inPostgres)
})
