import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import vectors from '../../../site/reference/digest-vectors.json' with { type: 'json' }
import { readStreams } from '../../../site/reference/streams.ts'
import { readCodeBlocks } from '../../../test/fixtures/code-blocks.ts'
import { addHostileTexts, HOSTILE_BRAND } from '../../../test/fixtures/hostile-texts.ts'
import { brand, database } from '../../../test/fixtures/rows.ts'
import type { Row } from '../../certify/service.ts'
import { figuresOf } from '../../generate/formulas.ts'
import { environment } from '../../python-environment.ts'
import { type Answered, brandWithAnswers, figuresOfAnswers } from '../../test-support/answers.ts'
import { columnsOf, readCopies } from '../../test-support/copies.ts'
import { buildModels, dbtEnvironment, duckdb } from '../../test-support/exact-models.ts'
import { type Server, startPostgres } from '../../test-support/postgres.ts'

// Builds connectors/dbt on DuckDB and PostgreSQL over what each loader stores, and compares its figures with counts of the
// raw rows.

const db = database()
const streams = readStreams()
const metrics = streams.filter(({ kind }) => kind === 'metric')
const DBT_PACKAGE = fileURLToPath(new URL('..', import.meta.url))

const LOADERS = ['dlt', 'airbyte', 'singer'] as const
const EXACT = 'path:models/exact'
/** Both ends have answers, and so have the days before and after. */
const WINDOW = { export_api_from_date: '2026-10-05', export_api_to_date: '2026-10-15' }

const VECTORS = fileURLToPath(new URL('../../../site/reference/digest-vectors.json', import.meta.url))

let its: Answered
let folder: string
let file: string
let postgres: Server
let server: pg.Client

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dbt-'))
  file = join(folder, 'copy.duckdb')
  // The user of PostgreSQL passes through it.
  await chmod(folder, 0o755)
  postgres = await startPostgres(folder)
  server = new pg.Client({ host: postgres.home, user: 'postgres', database: 'postgres' })
  await server.connect()
  // The driver of dbt-postgres sets ISO dates, on which the text of a row depends.
  await server.query(`alter role postgres set datestyle = 'sql, dmy'`)
  its = await brandWithAnswers(db)
  await addHostileTexts(db, await brand(db, its.org, HOSTILE_BRAND), '2026-10-20')
  for (const [loader, tables] of Object.entries(await readCopies(its.key))) {
    await load(loader, tables)
  }
})

afterAll(async () => {
  await server.end()
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Loads the tables of a copy into a schema of both databases. */
async function load(loader: string, tables: Readonly<Record<string, readonly Row[]>>): Promise<void> {
  const statements = [`create schema ${loader}`]
  await server.query(`create schema ${loader}`)
  for (const [name, rows] of Object.entries(tables)) {
    const path = join(folder, `${loader}.${name}.json`)
    const text = JSON.stringify(rows)
    await writeFile(path, text)
    const columns = columnsOf(rows)
    const members = columns.map((column) => column.join(': '))
    statements.push(`create table ${loader}.${name} as from read_json('${path}', columns = {${members}})`)
    const fields = columns.map((column) => column.join(' '))
    const sql = `create table ${loader}.${name} as select * from json_to_recordset($1) as row (${fields})`
    await server.query(sql, [text])
  }
  await duckdb(file, statements.join(';'))
}

type Options = { readonly schema?: string; readonly select?: string }

/** Builds models over the copy of a loader. Returns the tests that do not pass. */
const build = (
  engine: 'duckdb' | 'postgres',
  loader: (typeof LOADERS)[number],
  { schema = loader, select = 'package:export_api' }: Options = {},
) => {
  const output = {
    duckdb: { type: 'duckdb', path: file },
    postgres: {
      type: 'postgres',
      host: postgres.home,
      user: 'postgres',
      password: '',
      port: 5432,
      dbname: 'postgres',
    },
  }[engine]
  return buildModels({
    loader,
    schema,
    output: { ...output, schema: `of_${schema}` },
    folder: join(folder, `${engine}-${schema}`),
    vars: WINDOW,
    select,
  })
}

/** The figures of the package, by the names of their models without their prefixes. */
const FIGURES = figuresOf(streams).flatMap(({ name, stream, per, formula: { breakdown } }) => [
  { model: stream.name, rate: name, by: per },
  ...(breakdown === undefined
    ? []
    : [{ model: `${stream.name}_by_${breakdown}`, rate: name, by: [...per, breakdown] }]),
])

test('the figures of months and of a window divide sums, and each loader has the same rows', async () => {
  for (const loader of LOADERS) expect(await build('duckdb', loader), loader).toEqual([])
  const figures = (period: string, model: string) =>
    duckdb(file, `from of_dlt.export_api__${period}_${model} where brand_id = '${its.brandId}'`)
  for (const { model, rate, by } of FIGURES) {
    expect(toFigures(await figures('monthly', model), rate, by), model).toEqual(monthly(model))
    expect(toFigures(await figures('window', model), rate, by), model).toEqual(
      figuresOfAnswers(its, 11, 1)[model],
    )
  }
  for (const name of ['brands', 'days', ...metrics.map((stream) => stream.name)])
    for (const loader of ['airbyte', 'singer']) {
      // The types of times differ.
      const [one, other] = ['dlt', loader].map(
        (each) => `(select columns(lambda name: name <> 'created_at') from of_${each}.export_api__${name})`,
      )
      const differing = `(${one} except all ${other}) union all (${other} except all ${one})`
      expect(await duckdb(file, differing), `${loader}.${name}`).toEqual([])
    }
})

test('the proof names the metrics of which a copy is not exact', async () => {
  await duckdb(
    file,
    `create schema damaged;
    ${['brands', 'days', ...metrics.map(({ name }) => name)].map((name) => `create table damaged.${name} as from dlt.${name}`).join(';')};
    update damaged.visibility set visible_count = visible_count + 1 where date = '2026-10-07';
    update damaged.competitors set competitor_name = 'Hooli' where competitor_name = 'Rival' and date = '2026-10-12';
    update damaged.recommended_rate set recommended_rate = recommended_rate + 0.0001 where date = '2026-10-12';
    delete from damaged.sentiment where date = '2026-10-08';
    insert into damaged.citations select * replace (date '2026-12-24' as date) from damaged.citations limit 1;
    insert into damaged.competitors from damaged.competitors where date = '2026-10-09';
    insert into damaged.brands select * replace ('without days' as id) from damaged.brands limit 1`,
  )
  const problems = await build('duckdb', 'dlt', { schema: 'damaged', select: EXACT })
  expect(Object.fromEntries(problems.map(({ name, failures }) => [name, failures]))).toEqual({
    each_brand_has_days: 1,
    equals_days_visibility: 1,
    equals_days_competitors: 2,
    equals_days_citations: 1,
    equals_days_sentiment: 1,
    equals_days_recommended_rate: 1,
  })
})

test('the proof has the digest of each vector on DuckDB and PostgreSQL', async () => {
  // The engines read the file's text: in JavaScript, JSON loses the sign of -0.0.
  const copyOf = (source: string): string =>
    [
      'create schema vectors',
      `create table vectors.vector as ${source}`,
      `create table vectors.brands as select '${JSON.stringify(vectors.map(({ name: id }) => ({ id }))).replaceAll("'", "''")}'::json as brands`,
      ...metrics.map(
        ({ name, endpoint }) => `create table vectors.${name} as
          select name as brand_id, date, json_array_length(rows) as row_count, digest, rows, null as causes, now() as changed_at
          from vectors.vector where endpoint = '${endpoint}'`,
      ),
    ].join(';')
  const text = await readFile(VECTORS, 'utf8')
  await duckdb(
    file,
    copyOf(
      `from read_json('${VECTORS}', columns = {name: text, endpoint: text, date: date, rows: json, digest: text})`,
    ),
  )
  await server.query(
    copyOf(`select * from json_to_recordset($json$${text}$json$)
      as vector (name text, endpoint text, date date, rows json, digest text)`),
  )
  for (const engine of ['duckdb', 'postgres'] as const)
    expect(await build(engine, 'singer', { schema: 'vectors', select: EXACT }), engine).toEqual([])
  const listed = 'select count(*)::int as vectors from of_vectors.export_api__days'
  for (const rows of [await duckdb(file, listed), (await server.query(listed)).rows])
    expect(rows).toEqual([{ vectors: vectors.length }])
})

test('a project builds the package as the README installs it', async () => {
  const project = join(folder, 'project')
  await mkdir(project)
  const blocks = (await readCodeBlocks('../connectors/dbt/README.md'))('Install and configure', 'yaml')
  const [packages = '', vars = ''] = blocks.map((block) =>
    block.replace('../export-api/connectors/dbt', DBT_PACKAGE),
  )
  await writeFile(join(project, 'packages.yml'), packages)
  const loaded = vars.replace('airbyte', 'dlt').replace('raw_export_api', 'dlt')
  await writeFile(
    join(project, 'dbt_project.yml'),
    `name: mine\nversion: 1.0.0\nprofile: export_api\n${loaded}`,
  )
  const copy = { type: 'duckdb', path: file, schema: 'of_project', threads: 1 }
  await writeFile(
    join(project, 'profiles.yml'),
    JSON.stringify({ export_api: { target: 'copy', outputs: { copy } } }),
  )
  const dbt = async (...args: string[]) =>
    promisify(execFile)(join(await environment('dbt'), 'dbt'), args, {
      cwd: project,
      env: dbtEnvironment(project),
    }).catch((error) => error)
  await dbt('deps')
  const { stdout } = await dbt('build', '--select', 'package:export_api')
  expect(stdout).toMatch(/PASS=\d+ WARN=0 ERROR=0 SKIP=0/)
})

test('the package runs on PostgreSQL', async () => {
  expect(await build('postgres', 'airbyte')).toEqual([])
  for (const loader of ['dlt', 'singer'] as const)
    expect(await build('postgres', loader, { select: EXACT }), loader).toEqual([])
  for (const { model, rate, by } of FIGURES) {
    const { rows } = await server.query(
      `select *, to_char(month, 'YYYY-MM-DD') as month from of_airbyte.export_api__monthly_${model} where brand_id = $1`,
      [its.brandId],
    )
    expect(toFigures(rows, rate, by), model).toEqual(monthly(model))
  }
})

/** Returns the figures of a model in September and October, by month. */
const monthly = (model: string) =>
  Object.fromEntries(
    [
      ['2026-09', figuresOfAnswers(its, 4, 0)] as const,
      ['2026-10', figuresOfAnswers(its, 16, 4)] as const,
    ].flatMap(([month, figures]) =>
      Object.entries(figures[model] ?? {}).map(([of, rate]) => [`${month} ${of}`.trim(), rate]),
    ),
  )

const toFigures = (rows: readonly Row[], rate: string, by: readonly string[]) =>
  Object.fromEntries(
    rows.map((row) => {
      const month = row.month === undefined ? [] : [String(row.month).slice(0, 7)]
      const value = row[rate]
      return [[...month, ...by.map((column) => row[column])].join(' '), value == null ? null : Number(value)]
    }),
  )
