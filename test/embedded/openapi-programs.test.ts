import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { EXAMPLE } from '../../cli/openapi/examples.ts'
import { DEMO } from '../../drizzle/seed/demo.ts'
import { BASE } from '../../lib/app.ts'
import { call } from '../fixtures/call.ts'
import { findEndpoints } from '../fixtures/endpoints.ts'
import { fillDaily, hasManyRowsADay } from '../fixtures/fill-daily.ts'
import { hasAll } from '../fixtures/programs.ts'
import { brand, database, exportKey, organization } from '../fixtures/rows.ts'

// Programs of others that check the document and the service against it.
const runIf = (program: string) => test.runIf(hasAll(program))

const HOOKS = fileURLToPath(new URL('./schemathesis-hooks.py', import.meta.url))
const db = database()
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'openapi-'))
  await writeFile(join(folder, 'openapi.json'), (await call('/openapi.json')).text)
})

afterAll(() => rm(folder, { recursive: true, force: true }))

/** Runs a program in the folder. Returns what it printed if it failed. */
const complaints = (program: string, ...args: string[]): Promise<string> =>
  new Promise((resolve) => {
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
    execFile(program, args, { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout) =>
      resolve(error === null ? '' : `${error.message}\n${stdout}`),
    )
  })

runIf('spectral')('Spectral finds nothing', async () => {
  await writeFile(join(folder, 'ruleset.yaml'), 'extends: spectral:oas\n')
  const args = ['lint', '--ruleset', 'ruleset.yaml', '--fail-severity', 'hint', 'openapi.json']
  expect(await complaints('spectral', ...args)).toBe('')
})

runIf('openapi-spec-validator')('openapi-spec-validator finds nothing', async () => {
  expect(await complaints('openapi-spec-validator', 'openapi.json')).toBe('')
})

runIf('schemathesis')('Schemathesis finds nothing with all of its checks', { timeout: 300_000 }, async () => {
  // The document's examples name the brand of the demo and one day. More than a page of rows is on that day, or around it.
  const org = await organization(db)
  const brandId = await brand(db, org, { id: DEMO.brandId })
  const { key } = await exportKey(db, org)
  for (const { name } of (await findEndpoints()).filter(({ kind }) => kind !== 'brands')) {
    const many = await hasManyRowsADay(db, name)
    const [first, days] = many ? [EXAMPLE.day, 1] : ['2023-11-01', 1100]
    await fillDaily(db, { name, brandId, rows: 1100, first, days })
  }
  // Without fail-on, a run that received nothing but 401 or 404 passes.
  const settings = [
    `hooks = ${JSON.stringify(HOOKS)}`,
    `auth.openapi.ApiKey.api_key = "${key}"`,
    'warnings.fail-on = ["missing_auth", "missing_test_data"]',
  ]
  await writeFile(join(folder, 'schemathesis.toml'), settings.join('\n'))
  const url = `${inject('serviceUrl')}${BASE}/openapi.json`
  const args = ['run', url, '--checks', 'all', '--max-examples', '20', '--generation-deterministic']
  expect(await complaints('schemathesis', ...args)).toBe('')
})
