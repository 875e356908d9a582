import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, inject, test } from 'vitest'
import { dltEnvironment, SOURCES } from '../../connectors/dlt/tests/dlt.ts'
import { environment } from '../../connectors/python-environment.ts'
import { bundleCommand } from '../../connectors/typescript/build.ts'
import { SAMPLES } from '../../site/samples.ts'
import { CLIENT_FAULTS, type ClientFault, startClientFault } from '../faults/client-faults.ts'
import { readCodeBlocks } from '../fixtures/code-blocks.ts'
import { database } from '../fixtures/rows.ts'
import { answeredDays } from '../fixtures/scene.ts'
import { reference } from '../fixtures/site/reference.ts'

// Runs each client against each fault of a gateway. The table of connectors/README.md says what happens.

const ROOT = new URL('../../', import.meta.url)
const pathOf = (path: string): string => fileURLToPath(new URL(path, ROOT))
const db = database()
const folder = await mkdtemp(join(tmpdir(), 'client-faults-'))
let key: string

beforeAll(async () => {
  key = (await answeredDays(db, { first: '2026-10-01', days: 2 })).key
})

afterAll(() => rm(folder, { recursive: true, force: true }))

const pythonOf = async (engine: string, program: string) => join(await environment(engine), program)
const [brands] = reference.endpoints.filter(({ id }) => id === 'brands')
const sample = (language: 'python' | 'javascript', origin: string) =>
  brands === undefined ? '' : SAMPLES[language].write({ origin, endpoint: brands, query: {} })

const CLIENT = `import { ExportApi } from './client.js'
const api = new ExportApi({ baseUrl: process.env.EXPORT_API_URL, apiKey: process.env.EXPORT_API_KEY })
try {
  for await (const page of api.days());
  await api.brands()
} catch (error) {
  console.error(String(error))
  process.exitCode = 1
}`

type Run = { readonly url: string; readonly key: string; readonly folder: string }

/** A program, its arguments and its environment, which has EXPORT_API_URL and EXPORT_API_KEY in any case. */
type Program = (run: Run) => Promise<[string, string[], NodeJS.ProcessEnv?]>

const PROGRAMS: Readonly<Record<string, Program>> = {
  dlt: async (run) => [
    await pythonOf('dlt', 'python'),
    [join(SOURCES, 'export_api_pipeline.py')],
    dltEnvironment({ ...run, start: '2026-10-01' }),
  ],
  Singer: async ({ url, key }) => [
    await pythonOf('singer', 'tap-export-api'),
    ['--config=ENV'],
    { TAP_EXPORT_API_BASE_URL: url, TAP_EXPORT_API_API_KEY: key, TAP_EXPORT_API_START_DATE: '2026-10-01' },
  ],
  'Airbyte, with two streams': async ({ url, key, folder }) => {
    const file = async (name: string, content: object) => {
      await writeFile(join(folder, name), JSON.stringify(content))
      return join(folder, name)
    }
    const streams = ['visibility', 'brands'].map((name) => ({
      stream: { name, json_schema: {}, supported_sync_modes: ['full_refresh'] },
      sync_mode: 'full_refresh',
      destination_sync_mode: 'overwrite',
    }))
    const config = await file('config.json', { base_url: url, api_key: key, start_date: '2026-10-01' })
    const catalog = await file('catalog.json', { streams })
    const manifest = pathOf('connectors/airbyte/source-export-api/manifest.yaml')
    const args = ['--manifest-path', manifest, '--config', config, '--catalog', catalog]
    return [await pythonOf('airbyte', 'source-declarative-manifest'), ['read', ...args]]
  },
  'TypeScript: client': async ({ folder }) => {
    await build({
      entryPoints: [pathOf('connectors/typescript/src/index.ts')],
      bundle: true,
      format: 'esm',
      outfile: join(folder, 'client.js'),
    })
    await writeFile(join(folder, 'read.mjs'), CLIENT)
    return [process.execPath, [join(folder, 'read.mjs')]]
  },
  'TypeScript: `export-api sync`': async ({ folder }) => {
    await bundleCommand(join(folder, 'export-api.mjs'))
    return [process.execPath, [join(folder, 'export-api.mjs'), 'sync', '--out', join(folder, 'copy')]]
  },
  'program of sync.md': async () => {
    const [program = ''] = (await readCodeBlocks('sync.md'))('Python', 'python')
    return ['python3', ['-c', program]]
  },
  'sample in Python': async ({ url }) => ['python3', ['-c', sample('python', url)]],
  'sample in JavaScript': async ({ url }) => [
    process.execPath,
    ['--input-type=module', '-e', sample('javascript', url)],
  ],
}

/** The errors that a source of Airbyte reports. Its log has the whole response, as its README says. */
const errorsOf = (output: string): string[] =>
  output.split('\n').flatMap((line) => {
    const { error } = JSON.parse(line || '{}').trace ?? {}
    return error?.stream_descriptor ? [error.message] : []
  })

/** Returns the cells of the table of connectors/README.md, by client and fault. */
async function readTable(): Promise<Map<string, Map<string, string>>> {
  const page = await readFile(pathOf('connectors/README.md'), 'utf8')
  const section = page.slice(page.indexOf('\n## Faults\n'))
  const [head = [], , ...rows] = [...section.matchAll(/^\| (.*) \|$/gm)].map(([, row = '']) =>
    row.split(' | '),
  )
  return new Map(
    rows.map(([name = '', ...cells]) => [
      name,
      new Map(cells.map((cell, index) => [head[index + 1] ?? '', cell])),
    ]),
  )
}

const isFault = (name: string): name is ClientFault => name in CLIENT_FAULTS

const table = await readTable()
const cases = [...table].flatMap(([client, cells]) =>
  [...cells].map(([fault, outcome]) => [client, fault, outcome] as const),
)

describe('a client meets', () => {
  test.for([
    ['the table has', Object.keys(PROGRAMS), Object.keys(CLIENT_FAULTS)] as const,
  ])('%s each client and each fault', ([, clients, faults], { expect }) => {
    expect([...table.keys()]).toEqual(clients)
    for (const cells of table.values()) expect([...cells.keys()]).toEqual(faults)
  })

  test.concurrent.for(cases)('%s, %s: %s', async ([client, fault, outcome], { expect, onTestFinished }) => {
    const program = PROGRAMS[client]
    if (program === undefined || !isFault(fault)) throw new Error('The table has an unknown client or fault')
    const { url, seen, signal, close } = await startClientFault(fault, inject('serviceUrl'))
    onTestFinished(async () => void (await close()))
    const own = join(folder, `${client} ${fault}`.replace(/\W+/g, '-'))
    await mkdir(own)
    const pasted = ` ${key}\n`
    const [command, args, env] = await program({ url, key: pasted, folder: own })
    const { PATH, HOME } = process.env
    const child = spawn(command, args, {
      cwd: own,
      env: { PATH, HOME, EXPORT_API_URL: url, EXPORT_API_KEY: pasted, ...env },
    })
    signal.addEventListener('abort', () => child.kill('SIGKILL'))
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    const ends = child.exitCode === 0 ? 'goes on' : `ends after ${seen.requests}`
    const met = seen.elsewhere.length > 0 ? 'follows it' : signal.aborted ? 'reads on' : ends
    const output = stdout + stderr
    const messages = client.startsWith('Airbyte') ? errorsOf(output) : output.split('\n')
    expect(met, messages.join('\n').slice(-2000)).toBe(outcome)
    expect(seen.early).toEqual([])
    if (child.exitCode === 0 || signal.aborted) return
    if (fault === 'message with the key' || fault === '503 always')
      expect(messages.join()).toMatch(/<API key>|\b503\b/)
    expect(messages.join()).not.toMatch(/svc_live_|%[57]3%[57]6%[46]3/i)
    expect(Math.max(...messages.map(({ length }) => length))).toBeLessThan(1500)
  })
})
