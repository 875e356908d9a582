import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { readStreams, type Stream } from '../../../site/reference/streams.ts'
import { readCodeBlocks } from '../../../test/fixtures/code-blocks.ts'
import { duckdbSetup } from '../../../test/fixtures/duckdb.ts'
import { addHostileTexts, HOSTILE_BRAND } from '../../../test/fixtures/hostile-texts.ts'
import { brand, database } from '../../../test/fixtures/rows.ts'
import { startLocalServer } from '../../certify/local-server.ts'
import { figuresOf } from '../../generate/formulas.ts'
import { environment } from '../../python-environment.ts'
import { type Answered, brandWithAnswers, DAYS, figuresOfAnswers } from '../../test-support/answers.ts'
import { expectTyped } from '../../test-support/column-types.ts'
import { served } from '../../test-support/served.ts'

// Runs connectors/duckdb in DuckDB's command line.

const db = database()
const STREAMS = readStreams().filter(({ kind }) => kind !== 'changes')
const [code = ''] = (await readCodeBlocks('../connectors/duckdb/README.md'))('Run', 'sql')
const [settings = '', ...example] = code.split('\n\n')
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
  const script = join(folder, 'script.sql')
  // Address and key are as people paste them.
  const set = settings.replace('https://api.example.com', `${url}/api/export/v1/\n`)
  await writeFile(script, `${set}\n${statements}`)
  const { stdout } = await promisify(execFile)(
    'duckdb',
    ['-bail', '-list', '-noheader', '-cmd', setup, join(folder, 'export.duckdb'), '-f', script],
    { cwd: CONNECTOR, env: { PATH, HOME: folder, EXPORT_API_KEY: ` ${key}\r\n` } },
  )
  return stdout.split('\n').filter((line) => line !== '' && !/^(true|Success)/.test(line))
}

const callOf = ({ name, kind }: Stream, ...brandIds: string[]): string =>
  `export_api_${name}(${kind === 'metric' ? `['${brandIds.join(`', '`)}'], '${DAYS.first}', '${DAYS.last}'` : ''})`

test.for(STREAMS)('export_api_$name returns every row with its types', async (stream) => {
  const times = stream.columns.filter(({ type }) => type === 'timestamp').map(({ name }) => name)
  const asSent = times.map((name) => `replace (strftime(${name}, '%Y-%m-%dT%H:%M:%S.%gZ') as ${name})`)
  const [types = '', ...rows] = await duckdb(`
    create table loaded as from ${callOf(stream, its.brandId, other)};
    select to_json(list(data_type order by column_index)) from duckdb_columns()
    where table_name = 'loaded' and column_name <> 'brand_id';
    select to_json(row) from (select * ${asSent} from loaded) as row;
    drop table loaded;
  `)
  expectTyped(stream.endpoint, JSON.parse(types))
  const query = { fromDate: DAYS.first, toDate: DAYS.last }
  const expected = (await served(stream, { key: its.key, brandIds: [its.brandId, other], query })).map(
    (row) => JSON.stringify(Object.fromEntries(stream.columns.map(({ name, field }) => [name, row[field]]))),
  )
  expect(rows.length).toBeGreaterThan(0)
  expect(rows.map((row) => JSON.stringify(JSON.parse(row))).sort()).toEqual(expected.sort())
})

test.for(figuresOf(STREAMS))('$name divides sums', async ({ name, stream, per, columns }) => {
  const [line = ''] = await duckdb(
    `select json_group_object(label, rate) from (
       select concat_ws(' ', ${per.join() || 'null'}) as label, ${name}(${columns}) as rate
       from ${callOf(stream, its.brandId)} group by label
     );`,
  )
  expect(JSON.parse(line)).toEqual(figuresOfAnswers(its, 20, 4)[stream.name])
})

test('the example of the README runs, and the key goes to no port that begins alike', async () => {
  const origins = [inject('serviceUrl'), `${inject('serviceUrl')}1`]
  const secrets = origins.map((origin) => `select name from which_secret('${origin}/api', 'http');`)
  const lines = await duckdb([...secrets, ...example].join('\n'))
  expect(lines).toEqual(['export_api', expect.stringMatching(`^${its.brandId}\\|\\d`)])
})

test('a wrong key shows the sentence of the service only, and a transfer that breaks leaves no table', async () => {
  const load = 'set http_retries = 0; create table wrong as from export_api_brands();'
  await expect(duckdb(load, its.key.replace(/.{4}$/, '0000'))).rejects.toThrow(/HTTP 401[\s\S]*API key/)
  await expect(duckdb(load, 'a hidden key')).rejects.not.toThrow('hidden')
  const breaking = await startLocalServer((_, response) => {
    response.write('{"name":"Acme"}\n', () => response.destroy())
  })
  onTestFinished(breaking.close)
  await expect(duckdb(load, its.key, breaking.url)).rejects.toThrow('Transferred a partial file')
  expect(await duckdb(`select count(*) from duckdb_tables() where table_name = 'wrong';`)).toEqual(['0'])
})
