import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, inject, test } from 'vitest'
import { EXAMPLE } from '../../cli/openapi/examples.ts'
import { DEMO } from '../../drizzle/seed/demo.ts'
import { BASE } from '../../lib/http/app.ts'
import { findEndpoints } from '../fixtures/endpoints.ts'
import { fillDaily, hasManyRowsADay } from '../fixtures/fill-daily.ts'
import { hasAll } from '../fixtures/programs.ts'
import { brand, database, exportKey, organization } from '../fixtures/rows.ts'

// Schemathesis is a program of others that checks the service against its document.

const HOOKS = fileURLToPath(new URL('./schemathesis-hooks.py', import.meta.url))
const db = database()
const folder = await mkdtemp(join(tmpdir(), 'schemathesis-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Runs Schemathesis in the folder. Returns what it printed if it failed. */
const complaints = (...args: string[]): Promise<string> =>
  new Promise((resolve) => {
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
    const options = { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 }
    execFile('schemathesis', args, options, (error, stdout) =>
      resolve(error === null ? '' : `${error.message}\n${stdout}`),
    )
  })

test.runIf(hasAll('schemathesis'))('all checks pass', { timeout: 300_000 }, async () => {
  // The document's examples name the brand of the demo and one day. More than a page of rows is on that day, or around it.
  const org = await organization(db)
  const brandId = await brand(db, org, { id: DEMO.brandId })
  const { key } = await exportKey(db, org)
  for (const { name } of (await findEndpoints()).filter(({ kind }) => kind !== 'brands' && kind !== 'days')) {
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
  expect(await complaints(...args)).toBe('')
})
