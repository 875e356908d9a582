import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, inject, test } from 'vitest'
import { pull } from '../support/call.ts'
import { fillDaily } from '../support/daily.ts'
import { hasAll } from '../support/programs.ts'
import { tenant } from '../support/tenant.ts'
import { database } from '../support/world.ts'
import { type Command, type Line, LOADERS } from './loaders.ts'
import { startSpendingProxy } from './spending-proxy.ts'

const db = database()
const WINDOW = { fromDate: '2026-01-01', toDate: '2026-04-20' }

let config: Readonly<Record<string, string>>
let expected: readonly string[]
let folder: string

// 110 pages of one metric, and one page of another that has nulls.
beforeAll(async () => {
  const { brandId, key } = await tenant(db)
  for (const [name, rows] of [
    ['visibility', 110_000],
    ['sentiment', 110],
  ] as const)
    await fillDaily(db, { name, brandId, rows, first: WINDOW.fromDate, days: 110 })
  const changes = [
    'visibility set visibility_rate = total_prompts % 800 / 8.0 where true',
    'sentiment set sentiment_score = null where positive_mentions % 3 = 1',
  ]
  for (const change of changes) await db.query(`update daily.${change} and brand_id = $1`, [brandId])
  const query = { brandId, ...WINDOW }
  const rowsOf = async (metric: string): Promise<string[]> =>
    (await pull(`/${metric}`, { key, query })).map((row) => toText({ metric, row }))
  expected = [...(await rowsOf('visibility')), ...(await rowsOf('sentiment'))].sort()
  config = { api_key: key, brand_id: brandId, from_date: WINDOW.fromDate, to_date: WINDOW.toDate }
  folder = await mkdtemp(join(tmpdir(), 'loaders-'))
}, 600_000)

afterAll(async () => {
  if (folder) await rm(folder, { recursive: true, force: true })
})

/** A row as text, in whatever order its fields come. Airbyte's CDK leaves out fields that are null. */
const toText = ({ metric, row }: Line): string =>
  JSON.stringify([
    metric,
    ...Object.entries(row)
      .filter(([, value]) => value !== null)
      .sort(),
  ])

/** Runs a program and returns what it prints. Airbyte's CDK prints its errors there too. */
async function run([program, ...args]: Command, cwd: string): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: cwd, DLT_DATA_DIR: cwd, RUNTIME__DLTHUB_TELEMETRY: 'false' }
  const options = { cwd, env, maxBuffer: Number.POSITIVE_INFINITY }
  const { stdout } = await promisify(execFile)(program, args, options).catch((error) => {
    throw new Error(`${error.message}\n${error.stdout.slice(-2000)}`)
  })
  return stdout
}

const isInstalled = hasAll('source-declarative-manifest', 'dlt', 'duckdb')

// At once, because each of them mostly waits. Skipped without the programs of requirements.txt.
test.skipIf(!isInstalled).for(LOADERS)(
  '$name loads 110 pages and meets 429, with its own pagination and retries',
  { concurrent: true, timeout: 900_000 },
  async ({ address, commands, parse }, { expect, onTestFinished }) => {
    const cwd = await mkdtemp(join(folder, 'run-'))
    const proxy = await startSpendingProxy(inject('serviceUrl'), address)
    onTestFinished(proxy.close)
    await writeFile(join(cwd, 'config.json'), JSON.stringify({ ...config, url: proxy.url }))
    let output = ''
    for (const command of commands) output = await run(command, cwd)
    expect(proxy.statuses).toContain(429)
    const lines = output.trimEnd().split('\n').map(parse)
    const loaded = lines.flatMap((line) => (line ? [toText(line)] : [])).sort()
    const different = expected.findIndex((text, index) => text !== loaded[index])
    expect(loaded[different]).toBe(expected[different])
    expect(loaded).toHaveLength(expected.length)
  },
)
