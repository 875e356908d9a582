import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { readStreams, type Stream } from '../../../site/reference/streams.ts'
import type { Row } from '../../../test/fixtures/call.ts'
import { readCodeBlocks } from '../../../test/fixtures/code-blocks.ts'
import { duckdbSetup } from '../../../test/fixtures/duckdb.ts'
import { addHostileTexts, HOSTILE_BRAND } from '../../../test/fixtures/hostile-texts.ts'
import { brand, database } from '../../../test/fixtures/rows.ts'
import { startLocalServer } from '../../certify/local-server.ts'
import { figuresOf } from '../../generate/formulas.ts'
import { environment } from '../../python-environment.ts'
import { type Answered, brandWithAnswers, DAYS, figuresOfAnswers } from '../../test-support/answers.ts'
import { served } from '../../test-support/served.ts'

// Runs connectors/duckdb in DuckDB's command line.

const db = database()
const streams = readStreams()
const [code = ''] = (await readCodeBlocks('../connectors/duckdb/README.md'))('Run', 'sql')
const CONNECTOR = fileURLToPath(new URL('../', import.meta.url))

let its: Answered
/** A brand whose texts are hostile. */
let other: string
let folder: string
let setup: string

beforeAll(async () => {
  process.env.PATH = `${await environment('duckdb')}:${process.env.PATH}`
  folder = await mkdtemp(join(tmpdir(), 'duckdb-'))
  setup = duckdbSetup(folder)
  its = await brandWithAnswers(db)
  other = await brand(db, its.org, HOSTILE_BRAND)
  // The README's example reads October.
  await addHostileTexts(db, other, '2026-09-30')
})

afterAll(() => rm(folder, { recursive: true, force: true }))

/** Runs statements after those of the README that set address and key. Returns the lines that they print. */
async function duckdb(statements: string, key = its.key, url = inject('serviceUrl')): Promise<string[]> {
  const { PATH } = process.env
  const [first = ''] = code.split('\n\n')
  const script = join(folder, 'script.sql')
  await writeFile(script, `${first.replace('https://api.example.com', url)}\n${statements}`)
  const { stdout } = await promisify(execFile)(
    'duckdb',
    ['-bail', '-list', '-noheader', '-cmd', setup, join(folder, 'export.duckdb'), '-f', script],
    { cwd: CONNECTOR, env: { PATH, HOME: folder, EXPORT_API_KEY: key } },
  )
  return stdout.split('\n').filter((line) => line !== '' && !/^(true|Success)/.test(line))
}

const TYPES = {
  uuid: 'UUID',
  date: 'DATE',
  text: 'VARCHAR',
  integer: 'BIGINT',
  number: 'DECIMAL(18,4)',
  boolean: 'BOOLEAN',
  timestamp: 'TIMESTAMP',
  json: 'JSON',
} as const

const brands = () => `['${its.brandId}', '${other}']`

const callOf = ({ name, kind }: Stream, ids = brands()): string =>
  `export_api_${name}(${{ brands: '', metric: `${ids}, '${DAYS.first}', '${DAYS.last}'`, changes: ids }[kind]})`

/** Returns the rows of the pages of a stream under the names of its columns. */
async function rowsOf(stream: Stream): Promise<Row[]> {
  const query = stream.kind === 'metric' ? { fromDate: DAYS.first, toDate: DAYS.last } : {}
  const rows = await served(stream, { key: its.key, brandIds: [its.brandId, other], query })
  return rows.map((row) =>
    Object.fromEntries(stream.columns.map(({ name, field }) => [name, row[field] ?? null])),
  )
}

test.for(streams)('export_api_$name returns every row with its types', async (stream) => {
  const times = stream.columns.filter(({ type }) => type === 'timestamp')
  const format = stream.kind === 'brands' ? '%Y-%m-%dT%H:%M:%S.%gZ' : '%Y-%m-%dT%H:%M:%S.%fZ'
  const asSent = times.map(({ name }) => `strftime(${name}, '${format}') as ${name}`)
  const [types = '', ...rows] = await duckdb(`
    create table loaded as from ${callOf(stream)};
    select to_json(list([column_name, data_type] order by column_index)) from duckdb_columns() where table_name = 'loaded';
    select to_json(row) from (select *${asSent.length > 0 ? ` replace (${asSent})` : ''} from loaded) as row;
    drop table loaded;
  `)
  expect(JSON.parse(types)).toEqual(stream.columns.map(({ name, type }) => [name, TYPES[type]]))
  const sorted = (all: readonly unknown[]) => all.map((row) => JSON.stringify(row)).sort()
  expect(rows.length).toBeGreaterThan(0)
  expect(sorted(rows.map((row) => JSON.parse(row)))).toEqual(sorted(await rowsOf(stream)))
})

test('the formulas of a window divide sums', async () => {
  const figures = figuresOf(streams)
  const lines = await duckdb(
    figures
      .map(
        ({ name, stream, per, columns }) =>
          `select json_group_object(label, rate) from (
             select concat_ws(' ', ${per.join() || 'null'}) as label, ${name}(${columns}) as rate
             from ${callOf(stream, `['${its.brandId}']`)} group by label
           );`,
      )
      .join('\n'),
  )
  expect(lines).toHaveLength(figures.length)
  for (const [index, { name, stream }] of figures.entries()) {
    expect(JSON.parse(lines[index] ?? ''), name).toEqual(figuresOfAnswers(its, 20, 4)[stream.name])
  }
})

test('the example of the README runs, and nothing is listed after the last change', async () => {
  const [, ...rest] = code.split('\n\n')
  const lines = await duckdb(`
    ${rest.join('\n\n')}
    set variable since = (select max(changed_at) from export_api_changes(${brands()}));
    select 'later', count(*) from export_api_changes(${brands()}, since := getvariable('since'));
    set timezone = 'Asia/Kolkata';
    set variable zoned = timezone('UTC', getvariable('since') - interval 1 microsecond);
    select 'zoned', count(*) > 0, typeof(getvariable('zoned')) from export_api_changes(${brands()}, since := getvariable('zoned'));
    select 'all', count(*) > 0 from export_api_changes(${brands()}, since := getvariable('since') - interval 1 day);
  `)
  expect(lines).toEqual([
    expect.stringMatching(`^${its.brandId}\\|\\d`),
    'later|0',
    'zoned|true|TIMESTAMP WITH TIME ZONE',
    'all|true',
  ])
})

test('the recipe of connectors/recipes/README.md runs in the same session, and no key goes to a port that begins alike', async () => {
  const url = inject('serviceUrl')
  const [recipe = ''] = (await readCodeBlocks('../connectors/recipes/README.md'))('DuckDB', 'sql')
  const [secret = ''] = recipe.replace('http://127.0.0.1:8787', url).split('set ')
  const secretOf = (origin: string) => `select name from which_secret('${origin}/api', 'http')`
  const both = `${secretOf(url)} union all ${secretOf(`${url}1`)};`
  const brands = 'select count(*) from export_api_brands();'
  const lines = await duckdb(`${both} ${secret} ${secret} ${brands} drop secret export_api; ${both}`)
  expect(lines).toEqual(['export_api', '2', 'export_api_recipe'])
})

test('addresses and keys are read as people paste them', async () => {
  const received: unknown[] = []
  const server = await startLocalServer(({ url, headers }, response) => {
    received.push([url, headers['x-api-key'], headers.authorization])
    response.end('')
  })
  onTestFinished(server.close)
  for (const end of ['/', '/api/export/v1', '/api/export/v1/\n'])
    await duckdb('from export_api_brands();', ' svc_live_0\r\n', server.url + end)
  const headers = ['svc_live_0', 'Bearer svc_live_0']
  expect(received).toEqual(Array(3).fill(['/api/export/v1/brands?format=ndjson', ...headers]))
})

test('a variable that is wrong is named, and no key is shown', async () => {
  const failed = (key: string, url: string) => duckdb('', key, url).catch(String)
  for (const url of ['api.example.com', 'htps://api.example.com', ''])
    expect(await failed('hidden', url)).toContain('Set the variable export_api_url to an address')
  for (const key of ['', 'hidden key', 'hidden\nkey', 'hiddenclé', 'hidden\u0001key']) {
    const message = await failed(key, 'https://api.example.com')
    expect(message).toContain('Set the variable export_api_key to your API key')
    expect(message).not.toContain('hidden')
  }
})

test('a wrong key fails with the sentence of the service, and leaves no table', async () => {
  const wrong = `${its.key.slice(0, -4)}0000`
  const load = `set http_retries = 0; create table wrong as from ${callOf(streams[1] ?? expect.fail())};`
  await expect(duckdb(load, wrong)).rejects.toThrow(/HTTP 401[\s\S]*API key/)
  expect(await duckdb(`select count(*) from duckdb_tables() where table_name = 'wrong';`)).toEqual(['0'])
})
