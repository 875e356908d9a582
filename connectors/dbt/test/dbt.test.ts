import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import vectors from '../../../site/reference/digest-vectors.json' with { type: 'json' }
import { type ColumnType, readStreams } from '../../../site/reference/streams.ts'
import { readCodeBlocks } from '../../../test/fixtures/code-blocks.ts'
import { addHostileTexts, HOSTILE_BRAND } from '../../../test/fixtures/hostile-texts.ts'
import { brand, database } from '../../../test/fixtures/rows.ts'
import { dltEnvironment, SOURCES } from '../../dlt/tests/dlt.ts'
import { figuresOf } from '../../generate/formulas.ts'
import { environment } from '../../python-environment.ts'
import { type Answered, brandWithAnswers, DAYS, figuresOfAnswers } from '../../test-support/answers.ts'
import { copiesOfDlt, exportsOf, importOf } from '../../test-support/copies.ts'
import { dbtEnvironment } from '../../test-support/exact-models.ts'
import { type Server, startPostgres } from '../../test-support/postgres.ts'
import { runPython } from '../../test-support/python.ts'

// Builds connectors/dbt over a copy that dlt made, on PostgreSQL over those of imitations of two loaders, and compares its
// figures with counts of the raw rows. The tests of Airbyte and Singer build it over their copies in DuckDB.

const db = database()
const streams = readStreams()
const DBT_PACKAGE = fileURLToPath(new URL('..', import.meta.url))

/** What a step returns: rows of SQL, or nodes of dbt. */
type Result = readonly Readonly<Record<string, string | number | boolean | null>>[]
type Step = { readonly sql: string } | { readonly dbt: readonly string[] }

const LOADERS = ['dlt', 'airbyte', 'singer'] as const
/** Both ends have answers, and so have the days before and after. */
const WINDOW = { from: '2026-10-05', to: '2026-10-15' }

const VECTORS = fileURLToPath(new URL('../../../site/reference/digest-vectors.json', import.meta.url))
/** The types in which loaders store columns that are not text, in both engines. */
const TYPES: Readonly<Partial<Record<ColumnType, string>>> = {
  date: 'date',
  integer: 'bigint',
  number: 'double precision',
  boolean: 'boolean',
}

let its: Answered
let folder: string
let postgres: Server
let server: pg.Client

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dbt-'))
  // The user of PostgreSQL passes through it.
  await chmod(folder, 0o755)
  postgres = await startPostgres(folder)
  server = new pg.Client({ host: postgres.home, user: 'postgres', database: 'postgres' })
  await server.connect()
  // The driver of dbt-postgres sets ISO dates, on which the text of a row depends.
  await server.query(`alter role postgres set datestyle = 'sql, dmy'`)
  its = await brandWithAnswers(db)
  await addHostileTexts(db, await brand(db, its.org, HOSTILE_BRAND), '2026-10-20')
  await loadWithDlt()
  const copies = [copiesOfDlt(), exportsOf(folder, 'airbyte'), exportsOf(folder, 'singer')]
  await run([{ sql: copies.join(';\n') }])
  const duckdb = { type: 'duckdb', path: join(folder, 'export_api_pipeline.duckdb'), threads: 1 }
  const onPostgres = {
    type: 'postgres',
    host: postgres.home,
    user: 'postgres',
    password: '',
    port: 5432,
    threads: 1,
  }
  const outputs = Object.fromEntries(
    [...LOADERS, 'damaged', 'vectors'].flatMap((name) => [
      [name, { ...duckdb, schema: `of_${name}` }],
      [`${name}_postgres`, { ...onPostgres, dbname: 'postgres', schema: `of_${name}` }],
    ]),
  )
  await writeFile(join(folder, 'profiles.yml'), JSON.stringify({ export_api: { target: 'dlt', outputs } }))
})

afterAll(async () => {
  await server.end()
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Loads the schema `export_api`. */
async function loadWithDlt(): Promise<void> {
  const python = join(await environment('dlt'), 'python')
  const env = dltEnvironment({ url: inject('serviceUrl'), key: its.key, start: DAYS.first, folder })
  await promisify(execFile)(python, [join(SOURCES, 'export_api_pipeline.py')], { cwd: folder, env })
}

/** Runs steps in one Python process. Returns the result of each. */
async function run(steps: readonly Step[]): Promise<Result[]> {
  return runPython({
    engine: 'dbt',
    file: new URL('dbt-steps.py', import.meta.url),
    input: { file: join(folder, 'export_api_pipeline.duckdb'), steps },
    options: { cwd: DBT_PACKAGE, env: dbtEnvironment(folder) },
  }) as Promise<Result[]>
}

const build = (target: string, ...options: string[]): Step => {
  const [loader] = target.split('_')
  const vars = {
    export_api_loader: LOADERS.find((name) => name === loader) ?? 'dlt',
    export_api_schema: loader,
    export_api_from_date: WINDOW.from,
    export_api_to_date: WINDOW.to,
  }
  return { dbt: ['build', '--quiet', '--target', target, '--vars', JSON.stringify(vars), ...options] }
}

const ONLY_EXACT = ['--select', 'path:models/exact']

/** The nodes that did not succeed, and how many rows they returned. */
const problems = (nodes: Result | undefined) =>
  nodes
    ?.filter(({ status }) => status !== 'success' && status !== 'pass')
    .map(({ name, failures }) => ({ name: String(name).split('_export_api__')[0], failures }))

/** The figures of the package, by the names of their models without their prefixes. */
const FIGURES = figuresOf(streams).flatMap(({ name, stream, per, formula: { breakdown } }) => [
  { model: stream.name, rate: name, by: per },
  ...(breakdown === undefined
    ? []
    : [{ model: `${stream.name}_by_${breakdown}`, rate: name, by: [...per, breakdown] }]),
])

test('the figures of months and of a window divide sums', async () => {
  const [nodes, ...results] = await run([
    build('dlt'),
    ...FIGURES.flatMap(({ model }) =>
      ['monthly', 'window'].map((period) => ({
        sql: `from of_dlt.export_api__${period}_${model} where brand_id = '${its.brandId}'`,
      })),
    ),
  ])
  expect(problems(nodes)).toEqual([])
  for (const [index, { model, rate, by }] of FIGURES.entries()) {
    const [months = [], window = []] = results.slice(2 * index)
    expect(toFigures(months, rate, by), model).toEqual(monthly(model))
    expect(toFigures(window, rate, by), model).toEqual(figuresOfAnswers(its, 11, 1)[model])
  }
})

test('the proof names the days on which a copy is not exact', async () => {
  const [, built] = await run([
    {
      sql: `create schema damaged;
        ${streams.map(({ name }) => `create table damaged.${name} as from dlt.${name};`).join('\n')}
        update damaged.visibility set visible_count = visible_count + 1 where date = '2026-10-07';
        update damaged.competitors set competitor_name = 'Hooli' where competitor_name = 'Rival' and date = '2026-10-12';
        update damaged.recommended_rate set recommended_rate = recommended_rate + 0.0001 where date = '2026-10-12';
        delete from damaged.sentiment where date = '2026-10-08';
        insert into damaged.citations select * replace (date '2026-12-24' as date) from damaged.citations limit 1;
        insert into damaged.competitors from damaged.competitors where date = '2026-10-09'`,
    },
    build('damaged', ...ONLY_EXACT),
  ])
  expect(problems(built)).toEqual([
    { name: 'equals_changes', failures: 1 },
    { name: 'equals_changes', failures: 2 },
    { name: 'key_is_unique', failures: 1 },
    { name: 'equals_changes', failures: 1 },
    { name: 'equals_changes', failures: 1 },
    { name: 'equals_changes', failures: 1 },
  ])
})

test('the proof has the digest of each vector on DuckDB and PostgreSQL', async () => {
  // The engines read the file's text: in JavaScript, JSON loses the sign of -0.0.
  const inDuckdb = copyOfVectors(
    `from read_json('${VECTORS}', columns = {name: text, endpoint: text, date: date, rows: json, digest: text})`,
    (fields) => {
      const members = fields.map(([name, type]) => `"${name}": "${type}"`)
      return `(select unnest(from_json(rows, '[{${members}}]'), max_depth := 2)) as served`
    },
  )
  const text = await readFile(VECTORS, 'utf8')
  const inPostgres = copyOfVectors(
    `select * from json_to_recordset($json$${text}$json$)
      as vector (name text, endpoint text, date date, rows json, digest text)`,
    (fields) => `json_to_recordset(rows) as served (${fields.map((field) => field.join(' '))})`,
  )
  await server.query(inPostgres)
  const proof = ['--select', '1+test_name:equals_changes']
  const listed = 'select count(*)::int as vectors from of_vectors.export_api__changes'
  const [, ofDuckdb, ofPostgres, inCopy] = await run([
    { sql: inDuckdb },
    build('vectors', ...proof),
    build('vectors_postgres', ...proof),
    { sql: listed },
  ])
  for (const nodes of [ofDuckdb, ofPostgres]) expect(problems(nodes)).toEqual([])
  for (const rows of [inCopy, (await server.query(listed)).rows])
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
  const dbt = async (...args: string[]) =>
    promisify(execFile)(join(await environment('dbt'), 'dbt'), args, {
      cwd: project,
      env: dbtEnvironment(folder),
    }).catch((error) => error)
  await dbt('deps')
  const { stdout } = await dbt('build', '--select', 'package:export_api')
  expect(stdout).toMatch(/PASS=\d+ WARN=0 ERROR=0 SKIP=0/)
})

test('the package runs on PostgreSQL', async () => {
  for (const loader of ['airbyte', 'singer']) {
    await server.query(`create schema ${loader}`)
    for (const stream of streams) {
      const rows = await readFile(join(folder, `${loader}.${stream.name}.json`), 'utf8')
      await server.query(importOf(stream, loader), [rows])
    }
  }
  const [ofAirbyte, ofSinger] = await run([
    build('airbyte_postgres'),
    build('singer_postgres', ...ONLY_EXACT),
  ])
  expect(problems(ofAirbyte)).toEqual([])
  expect(problems(ofSinger)).toEqual([])
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

/** SQL that makes the copy `vectors`, with a brand for each vector. `rowsOf` reads the rows of a vector. */
const copyOfVectors = (source: string, rowsOf: (fields: readonly (readonly string[])[]) => string): string =>
  [
    'create schema vectors',
    `create table vectors.vector as ${source}`,
    `create table vectors.changes as select name as brand_id, endpoint, date, json_array_length(rows) as rows,
    null as totals, digest, null as causes, null as changed_at from vectors.vector`,
    ...streams
      .filter(({ kind }) => kind === 'metric')
      .map(({ name, endpoint, columns }) => {
        const fields = columns.filter((column) => column.name !== 'brand_id')
        return `create table vectors.${name} as select vector.name as brand_id, served.*
        from vectors.vector, ${rowsOf(fields.map((field) => [field.name, TYPES[field.type] ?? 'text']))}
        where endpoint = '${endpoint}'`
      }),
  ].join(';')

const toFigures = (rows: Result, rate: string, by: readonly string[]) =>
  Object.fromEntries(
    rows.map((row) => {
      const month = row.month === undefined ? [] : [String(row.month).slice(0, 7)]
      const value = row[rate]
      return [[...month, ...by.map((column) => row[column])].join(' '), value == null ? null : Number(value)]
    }),
  )
