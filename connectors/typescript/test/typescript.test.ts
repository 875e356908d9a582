import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createMiniflare } from '../../../emulator/workers/miniflare.ts'
import { startFlakyProxy } from '../../../test/faults/flaky-proxy.ts'
import { pull } from '../../../test/fixtures/call.ts'
import { fillDaily } from '../../../test/fixtures/fill-daily.ts'
import { database, refresh } from '../../../test/fixtures/rows.ts'
import { scene } from '../../../test/fixtures/scene.ts'
import { type Tenant, tenant } from '../../../test/fixtures/tenant.ts'
import { startLocalServer } from '../../certify/local-server.ts'
import manifest from '../package.json' with { type: 'json' }

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const CLIENT = join(ROOT, 'connectors/typescript')
const TSC = join(CLIENT, 'node_modules/.bin/tsc')
const TYPES = join(ROOT, 'node_modules/@types')
const TARBALL = `${manifest.name}-${manifest.version}.tgz`
const LINTERS = ['publint@0.3.25', '@arethetypeswrong/cli@0.18.5']
const OCTOBER = { fromDate: '2026-10-01', toDate: '2026-10-31' }

const db = database()
const run = promisify(execFile)
const folder = await mkdtemp(join(tmpdir(), 'typescript-client-'))
// Without the Node of the repository, if the machine has its own.
const PATH = process.env.PATH?.split(delimiter)
  .filter((path) => !path.includes('node_modules'))
  .join(delimiter)
const node = await run('node', ['--version'], { env: { PATH } }).then(
  () => 'node',
  () => process.execPath,
)
let its: Tenant

/** Pulls rows, and what another address does to the key. Runs on every runtime. */
const PULL = `import { ExportApi } from 'export-api-client'

export async function pull({ baseUrl, redirecting, apiKey, window }) {
  const rows = []
  for await (const row of new ExportApi({ baseUrl, apiKey }).citationShare(window)) rows.push(row)
  const redirect = await new ExportApi({ baseUrl: redirecting, apiKey }).brands().catch(String)
  return { rows, redirect }
}
`

beforeAll(async () => {
  await run('npm', ['pack', '--pack-destination', folder], { cwd: CLIENT })
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await run('npm', ['install', '--offline', `./${TARBALL}`], { cwd: folder, env: { ...process.env, PATH } })
  await writeFile(join(folder, 'pull.js'), PULL)
  its = await tenant(db)
  const { brandId } = its
  await fillDaily(db, { name: 'citation-share', brandId, rows: 2500, first: '2026-10-01', days: 31 })
})

afterAll(() => rm(folder, { recursive: true }))

test.concurrent('publint and arethetypeswrong accept the package', async () => {
  const lint = `publint run ${TARBALL} --strict && attw ${TARBALL} --profile esm-only`
  const packages = LINTERS.map((name) => `--package=${name}`)
  await run('npm', ['exec', '--yes', ...packages, '--', 'sh', '-c', lint], { cwd: folder })
})

test.concurrent.each([
  ['Node.js', `--module nodenext --lib es2022 --types node --skipLibCheck --typeRoots ${TYPES}`],
  ['a bundler', '--module esnext --moduleResolution bundler --lib es2022,dom'],
])('a strict program type-checks for %s', async (name, options) => {
  const program = `import { type CitationRow, ExportApi, type MetricRow, type VisibilityRow } from 'export-api-client'

const api = new ExportApi({ baseUrl: '', apiKey: '', userAgent: undefined, onRetry: ({ error }) => error.status })
const names = ['visibility', 'citations'] as const
for (const name of names) {
  for await (const row of api[name]({ brandId: '' })) {
    const either: CitationRow | VisibilityRow = row
    const any: MetricRow = either
  }
}
for await (const { endpoint, changedAt } of api.changedDays({ brandId: '', since: undefined })) {
  const pages = api.metric(endpoint).pages({ brandId: '', signal: new AbortController().signal })
  const { value, done } = await pages.next()
  if (!done) changedAt.concat(value.meta.fromDate, value.requestId ?? '')
}
// The compiler must reject the next two: a directive without an error is an error.
// @ts-expect-error brandId is missing
api.sentiment({})
// @ts-expect-error rows have no such field
for await (const { name } of api.sentiment({ brandId: '' }));
`
  const file = join(folder, `${name.replaceAll(' ', '-')}.ts`)
  await writeFile(file, program)
  const strict = '--noEmit --strict --exactOptionalPropertyTypes --target es2022'
  const args = `${file} ${strict} ${options}`.split(' ')
  const { stdout } = await run(TSC, args, { cwd: folder }).catch((error: { stdout: string }) => error)
  expect(stdout).toBe('')
})

async function inNode(input: object): Promise<unknown> {
  const program = `import { pull } from './pull.js'
console.log(JSON.stringify(await pull(${JSON.stringify(input)})))`
  const args = ['--input-type=module', '--eval', program]
  const { stdout } = await run(node, args, { cwd: folder, env: { PATH }, maxBuffer: 1e8 })
  return JSON.parse(stdout)
}

async function inWorkerd(input: object): Promise<unknown> {
  const worker = `import { pull } from './pull.js'
export default { fetch: async () => Response.json(await pull(${JSON.stringify(input)})) }`
  const stdin = { contents: worker, resolveDir: folder }
  const { outputFiles } = await build({ stdin, bundle: true, format: 'esm', write: false })
  const script = outputFiles[0]?.text ?? ''
  const miniflare = createMiniflare({ modules: true, script, compatibilityDate: '2026-07-01' })
  try {
    const response = await miniflare.dispatchFetch('http://worker.example')
    return await response.json()
  } finally {
    await miniflare.dispose()
  }
}

test.concurrent.each([
  ['Node.js', inNode],
  ['workerd', inWorkerd],
])('%s pulls exact rows past faults, and follows no redirect', async (_, pullIn) => {
  const { brandId, key } = its
  const window = { brandId, ...OCTOBER }
  const proxy = await startFlakyProxy(inject('serviceUrl'), [['dropped', 429], [503, 'cut'], ['cut']])
  const paths: (string | undefined)[] = []
  const other = await startLocalServer(({ url }, response) => {
    paths.push(url)
    const elsewhere = `${other.url.replace('127.0.0.1', 'localhost')}/elsewhere`
    response.writeHead(302, { Location: elsewhere }).end()
  })
  try {
    const input = { baseUrl: proxy.url, redirecting: other.url, apiKey: key, window }
    expect(await pullIn(input)).toEqual({
      rows: await pull('/citation-share', { key, query: window }),
      redirect: `ExportApiError: ${other.url} redirects. Check baseUrl.`,
    })
    expect(paths).toEqual(['/api/export/v1/brands'])
    const name = `export-api-typescript/${manifest.version}`
    expect([...proxy.asked.values()]).toEqual([3, 3, 2].map((times) => Array(times).fill(name)))
  } finally {
    await Promise.all([other.close(), proxy.close()])
  }
})

test.concurrent('the installed command syncs and verifies a folder', async () => {
  const { key, say } = await scene(db)
  await say('2026-10-01T10:00:00Z', { mentions: ['Acme'] })
  await refresh(db)
  const env = { PATH, EXPORT_API_URL: inject('serviceUrl'), EXPORT_API_KEY: key }
  const command = (...args: string[]) =>
    run(node, [join(folder, 'node_modules/.bin/export-api'), ...args], { cwd: folder, env })
  expect((await command('--help')).stdout).toMatch(/^Usage: export-api /)
  await command('sync', '--out', 'copy')
  expect((await command('verify', 'copy')).stdout).toMatch(/"event":"verified"/)
  const files = await readdir(join(folder, 'copy/visibility'))
  expect(files.filter((name) => name !== '_delta_log')).toEqual([
    expect.stringMatching(/^export-api-[-0-9a-f]{36}\.parquet$/),
  ])
})
