import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, test } from 'vitest'
import { environment } from '../../connectors/certify/python-environment.ts'
import { dltEnvironment, SOURCES } from '../../connectors/dlt/tests/dlt.ts'
import { bundleCommand } from '../../connectors/typescript/build.ts'
import { mintApiKey } from '../../lib/request/api-key.ts'
import { SAMPLES } from '../../site/samples.ts'
import { REPEATING, startRepeatingServer } from '../faults/repeating-server.ts'
import { readCodeBlocks } from '../fixtures/code-blocks.ts'
import { reference } from '../fixtures/site/reference.ts'

// A gateway repeats each request in its answer: no program prints its key, or more than 1,000 characters of the answer.

const key = mintApiKey()
const pasted = ` ${key}\n`
const start = '2026-10-01'
const folder = await mkdtemp(join(tmpdir(), 'repeated-key-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const pythonOf = async (engine: string, program: string) => join(await environment(engine), program)
const file = async (name: string, content: string): Promise<string> => {
  await writeFile(join(folder, name), content)
  return join(folder, name)
}
const [endpoint] = reference.endpoints.filter(({ id }) => id === 'brands')
const sample = (language: 'python' | 'javascript', origin: string) =>
  endpoint === undefined ? '' : SAMPLES[language].write({ origin, endpoint, query: {} })

/** A program, its arguments and its environment, for a service at an address. */
type Program = (url: string, name: string) => Promise<[string, string[], NodeJS.ProcessEnv?]>

const PROGRAMS: Readonly<Record<string, Program>> = {
  'export-api': async () => {
    const command = join(folder, 'export-api.mjs')
    await bundleCommand(command)
    return [process.execPath, [command, 'sync', '--out', join(folder, 'copy')]]
  },
  dlt: async (url, name) => [
    await pythonOf('dlt', 'python'),
    [join(SOURCES, 'export_api_pipeline.py')],
    dltEnvironment({ url, key: pasted, start, folder: join(folder, name) }),
  ],
  Singer: async (url) => [
    await pythonOf('singer', 'tap-export-api'),
    ['--config=ENV'],
    { TAP_EXPORT_API_BASE_URL: url, TAP_EXPORT_API_API_KEY: pasted, TAP_EXPORT_API_START_DATE: start },
  ],
  Airbyte: async (base_url, name) => {
    const manifest = new URL('../../connectors/airbyte/source-export-api/manifest.yaml', import.meta.url)
    const config = await file(
      `${name}.json`,
      JSON.stringify({ base_url, api_key: pasted, start_date: start }),
    )
    const stream = { name: 'brands', json_schema: {}, supported_sync_modes: ['full_refresh'] }
    const configured = { stream, sync_mode: 'full_refresh', destination_sync_mode: 'overwrite' }
    const catalog = await file(`${name}-catalog.json`, JSON.stringify({ streams: [configured] }))
    const args = ['--manifest-path', fileURLToPath(manifest), '--config', config, '--catalog', catalog]
    return [await pythonOf('airbyte', 'source-declarative-manifest'), ['read', ...args]]
  },
  'the program of sync.md': async () => {
    const [program = ''] = (await readCodeBlocks('sync.md'))('Python', 'python')
    return ['python3', ['-c', program]]
  },
  'the sample in Python': async (url) => ['python3', ['-c', sample('python', url)]],
  'the sample in JavaScript': async (url) => [
    process.execPath,
    ['--input-type=module', '-e', sample('javascript', url)],
  ],
}

/** The errors that a source reports. Airbyte's log has the whole response, as the README of the source says. */
const errorsOf = (output: string): string[] =>
  output.split('\n').flatMap((line) => {
    const { error } = JSON.parse(line || '{}').trace ?? {}
    return error?.stream_descriptor ? [error.message] : []
  })

describe.each(REPEATING)('%s', (fault) => {
  test.concurrent.for(Object.entries(PROGRAMS))('%s', async ([name, program], context) => {
    const { expect, onTestFinished } = context
    const { url, close } = await startRepeatingServer(fault)
    onTestFinished(async () => void (await close()))
    const [command, args, own] = await program(url, `${name} ${fault}`)
    const { PATH, HOME } = process.env
    const env = { PATH, HOME, EXPORT_API_URL: url, EXPORT_API_KEY: pasted, ...own }
    const { code, output } = await new Promise<{ code: unknown; output: string }>((resolve) =>
      execFile(command, args, { cwd: folder, env, maxBuffer: 2 ** 30 }, (error, stdout, stderr) =>
        resolve({ code: error?.code, output: stdout + stderr }),
      ),
    )
    expect(code).toBeGreaterThan(0)
    const messages = name === 'Airbyte' ? errorsOf(output) : output.split('\n')
    expect(messages.join()).toMatch(/<API key>|\b(400|503)\b|redirects/)
    expect(messages.join()).not.toMatch(/svc_live_|%[57]3%[57]6%[46]3/i)
    expect(Math.max(...messages.map(({ length }) => length))).toBeLessThan(1500)
  })
})
