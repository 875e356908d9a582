import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json, text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { figuresOf } from '../../connectors/definition/formulas.ts'
import { readStreams, type Stream } from '../../connectors/definition/streams.ts'
import { environment } from '../support/environment.ts'
import type { Tenant } from '../support/tenant.ts'
import { database } from '../support/world.ts'
import { brandWithAnswers, COUNTED_FIGURES, countFigure, DAYS, type Figures } from './answers.ts'
import { copiesOf } from './copies.ts'

// Builds connectors/dbt over copies of one brand, and compares its figures with counts of the raw rows.

const db = database()
const streams = readStreams()
const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** What a step returns: rows of SQL, or nodes of dbt. */
type Result = readonly Readonly<Record<string, string | number | boolean | null>>[]
type Step = { readonly sql: string } | { readonly dbt: readonly string[] }

const LOADERS = ['dlt', 'airbyte', 'singer'] as const
const WINDOW = { from: '2026-10-05', to: '2026-11-03' }

let its: Tenant
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dbt-'))
  its = await brandWithAnswers(db)
  for (const stream of streams) await writeFile(join(folder, `${stream.name}.ndjson`), await served(stream))
  const outputs = Object.fromEntries(
    LOADERS.map((name) => [
      name,
      { type: 'duckdb', path: join(folder, 'copy.duckdb'), schema: `of_${name}`, threads: 1 },
    ]),
  )
  await writeFile(join(folder, 'profiles.yml'), JSON.stringify({ export_api: { target: 'dlt', outputs } }))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

/** Returns a stream's rows as the service serves them. */
async function served({ endpoint, kind }: Stream): Promise<string> {
  const url = new URL(`/api/export/v1/${endpoint}?format=ndjson`, inject('serviceUrl'))
  if (kind !== 'listing') url.searchParams.set('brandId', its.brandId)
  if (kind === 'metric') url.searchParams.set('fromDate', DAYS.first)
  const response = await fetch(url, { headers: { 'X-API-Key': its.key, 'User-Agent': 'dbt.test.ts' } })
  expect(response.status).toBe(200)
  return response.text()
}

/** Runs steps in one Python process. Returns the result of each. */
async function run(steps: readonly Step[]): Promise<Result[]> {
  const file = join(folder, 'copy.duckdb')
  const python = spawn(join(await environment('dbt'), 'python'), [pathOf('dbt-steps.py')], {
    cwd: pathOf('../../connectors/dbt'),
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      DBT_PROFILES_DIR: folder,
      DBT_TARGET_PATH: join(folder, 'target'),
      DBT_LOG_PATH: folder,
      DBT_SEND_ANONYMOUS_USAGE_STATS: 'false',
    },
  })
  const errors = text(python.stderr)
  python.stdin.end(JSON.stringify(steps.map((step) => ('sql' in step ? { ...step, file } : step))))
  return json(python.stdout).catch(async () => {
    throw new Error(await errors)
  }) as Promise<Result[]>
}

const build = (loader: string, ...options: string[]): Step => ({
  dbt: [
    'build',
    '--quiet',
    ...['--target', loader],
    ...['--vars', JSON.stringify({ export_api_loader: loader, export_api_schema: loader, ...dates })],
    ...options,
  ],
})
const dates = { export_api_from_date: WINDOW.from, export_api_to_date: WINDOW.to }

/** The figures of the package, by the names of their models without `monthly_` and `window_`. */
const FIGURES = figuresOf(streams).flatMap(({ name, stream, per, formula: { breakdown } }) => [
  { model: stream.name, rate: name, by: per },
  ...(breakdown === undefined
    ? []
    : [{ model: `${stream.name}_by_${breakdown}`, rate: name, by: [...per, breakdown] }]),
])

test('the exact models are equal whatever loaded the copy, and the figures equal counts of the raw rows', async () => {
  expect(FIGURES.map(({ model }) => model)).toEqual(COUNTED_FIGURES)
  const [, ofDlt = [], ofAirbyte = [], ofSinger = [], ...rest] = await run([
    { sql: copiesOf(folder, its.brandId) },
    build('dlt'),
    build('airbyte', '--select', 'path:models/exact'),
    build('singer', '--select', 'path:models/exact'),
    ...streams.flatMap(({ name }) => [
      { sql: `select count(*) as rows from of_dlt.exact_${name}` },
      ...LOADERS.slice(1).map((loader) => ({ sql: differences(name, loader) })),
    ]),
    ...FIGURES.flatMap(({ model }) => [
      { sql: `from of_dlt.monthly_${model}` },
      { sql: `from of_dlt.window_${model}` },
    ]),
  ])
  for (const nodes of [ofDlt, ofAirbyte, ofSinger])
    expect(nodes.filter(({ status }) => status !== 'success' && status !== 'pass')).toEqual([])
  expect(ofDlt.length).toBeGreaterThan(ofAirbyte.length)
  const results = rest[Symbol.iterator]()
  const next = () => results.next().value ?? []
  for (const { name } of streams) {
    expect(next(), name).not.toEqual([{ rows: 0 }])
    expect(next(), `${name} of Airbyte`).toEqual([])
    expect(next(), `${name} of Singer`).toEqual([])
  }
  for (const { model, rate, by } of FIGURES)
    for (const monthly of [true, false]) {
      const counted = await countFigure(db, {
        name: model,
        brandId: its.brandId,
        monthly,
        ...(!monthly && WINDOW),
      })
      expect(toFigures(next(), rate, by), model).toEqual(approximately(counted))
    }
})

/** Rows that one of two exact models lacks. */
const differences = (name: string, loader: string): string =>
  `(from of_dlt.exact_${name} except all from of_${loader}.exact_${name}) union all
   (from of_${loader}.exact_${name} except all from of_dlt.exact_${name})`

const toFigures = (rows: Result, rate: string, by: readonly string[]): Figures =>
  Object.fromEntries(
    rows.map((row) => {
      const month = row.month === undefined ? [] : [String(row.month).slice(0, 7)]
      const value = row[rate]
      return [[...month, ...by.map((column) => row[column])].join(' '), value == null ? null : Number(value)]
    }),
  )

const approximately = (figures: Figures) =>
  Object.fromEntries(
    Object.entries(figures).map(([of, rate]) => [of, rate === null ? null : expect.closeTo(rate, 9)]),
  )
