import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, inject, test } from 'vitest'
import { readStreams } from '../../../../site/reference/streams.ts'
import {
  answer,
  brand,
  database,
  exportKey,
  organization,
  place,
  prompt,
  refresh,
} from '../../../../test/fixtures/rows.ts'
import { scene } from '../../../../test/fixtures/scene.ts'
import { certify } from '../../../certify/certify.ts'
import { environment } from '../../../python-environment.ts'
import { buildModels, duckdb, proofOf } from '../../../test-support/exact-models.ts'

const CONNECTOR = fileURLToPath(new URL('../', import.meta.url))

const run = promisify(execFile)
const db = database()
const bin = await environment('airbyte')
const folder = await mkdtemp(join(tmpdir(), 'airbyte-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

test('the standard tests of Airbyte pass, which validate each record by its schema', async () => {
  const { say, rival, key } = await scene(db, { name: 'Acme' })
  const globex = await rival('Globex')
  await say('2026-10-05T12:00:00Z', {
    mentions: ['Acme', 'Globex'],
    citations: [{ url: 'https://b.example/', domain: null }],
    phrases: [{ polarity: 'neutral', confidence: '0.5' }],
    judged: [{ competitor: globex, recommended: false }],
  })
  await refresh(db)

  const connector = join(folder, 'source-export-api')
  await cp(CONNECTOR, connector, { recursive: true })
  await mkdir(join(connector, 'secrets'), { recursive: true })
  const config = { base_url: inject('serviceUrl'), api_key: key }
  await writeFile(join(connector, 'secrets/config.json'), JSON.stringify(config))
  await writeFile(
    join(connector, 'secrets/revoked.json'),
    JSON.stringify({ ...config, api_key: 'svc_live_0' }),
  )

  // The tests in containers need Docker.
  const options = ['-k', 'not docker', '-Werror::airbyte_cdk.test.standard_tests.DiscoveredCatalogWarning']
  const { stdout } = await run(
    join(bin, 'airbyte-cdk'),
    ['connector', 'test', connector, ...options.map((option) => `--pytest-arg=${option}`)],
    { cwd: folder, env: { ...process.env, PATH: `${bin}:${process.env.PATH}` } },
  )
  // Specification, configuration, check with a key and with another, discovery, read, a bad catalog.
  expect(stdout).toMatch(/\b7 passed, .* deselected/)
})

const METADATA = `
import sys, yaml
from airbyte_connector_models.metadata.v0.connector_metadata_definition_v0 import ConnectorMetadataDefinitionV0
from pydantic import ValidationError
try:
    ConnectorMetadataDefinitionV0.model_validate(yaml.safe_load(open(sys.argv[1], encoding="utf-8")))
except ValidationError as error:
    print(*(f"{'.'.join(problem['loc'])}: {problem['msg']}" for problem in error.errors()), sep="\\n")
`

test('metadata.yaml lacks only what a person decides', async () => {
  const { stdout } = await run(join(bin, 'python'), ['-c', METADATA, join(CONNECTOR, 'metadata.yaml')])
  expect(stdout).toBe('data.license: Field required\ndata.documentationUrl: Field required\n')
})

type Config = { readonly base_url: string; readonly api_key: string; readonly start_date?: string }

type Message = {
  readonly connectionStatus?: { readonly status: string; readonly message: string }
  readonly state?: { readonly stream: { readonly stream_descriptor: { readonly name: string } } }
  readonly trace?: { readonly error?: { readonly message: string } }
}

/** Runs a command of the source in a folder, which receives its messages. Returns them and its exit code. */
async function source(own: string, config: Config, ...command: string[]) {
  await writeFile(join(own, 'config.json'), JSON.stringify(config))
  const args = [...command, '--manifest-path', `${CONNECTOR}manifest.yaml`, '--config', 'config.json']
  const options = { cwd: own, maxBuffer: Number.POSITIVE_INFINITY }
  const ended = await run(join(bin, 'source-declarative-manifest'), args, options).catch((error) => error)
  await writeFile(join(own, 'messages.jsonl'), ended.stdout)
  const lines: string[] = ended.stdout.trimEnd().split('\n')
  return { code: ended.code ?? 0, messages: lines.map((line): Message => JSON.parse(line)) }
}

test('a start date that is no day of the calendar fails the check', async () => {
  const { key } = await scene(db)
  const config = { base_url: inject('serviceUrl'), api_key: key, start_date: '2026-11-31' }
  const { messages } = await source(folder, config, 'check')
  expect(messages.at(-1)?.connectionStatus).toMatchObject({
    status: 'FAILED',
    message: expect.stringContaining('Parameter start_date must be a calendar date in the format YYYY-MM-DD'),
  })
})

const METRICS = readStreams().flatMap(({ kind, name }) => (kind === 'metric' ? [name] : []))

/** The default modes: Full refresh | Overwrite, and Incremental | Append + Deduped. */
const CATALOG = {
  streams: ['brands', ...METRICS].map((name) => ({
    stream: { name, json_schema: {}, supported_sync_modes: ['full_refresh', 'incremental'] },
    sync_mode: name === 'brands' ? 'full_refresh' : 'incremental',
    destination_sync_mode: name === 'brands' ? 'overwrite' : 'append_dedup',
  })),
}

const BRAND =
  'id text, name text, display_name text, url text, site_url text, industry text, created_at timestamptz'
const DAY =
  'brand_id text, date date, "offset" bigint, changed_at timestamptz, causes json, digest text, row_count bigint, rows json'

/** SQL of a destination that loads the records of a stream into a table. */
function loadSql(name: string, columns: string): string {
  const [key, order] = name === 'brands' ? ['id', ''] : ['brand_id, date, "offset"', 'changed_at desc,']
  return `create table if not exists ${name} (${columns}, _airbyte_extracted_at timestamptz);
    ${name === 'brands' ? 'delete from brands;' : ''}
    insert into ${name} select unnest(record.data), now()
      from read_json('messages.jsonl', format = 'newline_delimited', columns = {record: 'struct(stream text, data struct(${columns}))'})
      where record.stream = '${name}';
    create or replace table ${name} as from ${name} qualify
      row_number() over (partition by ${key} order by ${order} _airbyte_extracted_at desc) = 1;`
}

/**
 * Syncs as Airbyte's platform does. Returns the tests of dbt that do not pass. The models are built in the first sync; the
 * schema `exact` has them without their prefix.
 */
function connection(name: string) {
  const own = join(folder, name)
  const file = join(own, 'export.duckdb')
  const states = new Map<string, unknown>()

  async function build(): Promise<void> {
    const output = { type: 'duckdb', path: file, schema: 'of_dbt' }
    await buildModels({ loader: 'airbyte', schema: 'main', output, folder: own })
    const views = ['brands', ...METRICS].map(
      (each) => `create view exact.${each} as from of_dbt.export_api__${each}`,
    )
    await duckdb(file, ['create schema exact', ...views].join(';'))
  }

  async function sync(config: Config) {
    const isFirst = states.size === 0
    await mkdir(own, { recursive: true })
    await writeFile(join(own, 'catalog.json'), JSON.stringify(CATALOG))
    await writeFile(join(own, 'state.json'), JSON.stringify([...states.values()]))
    const read = await source(own, config, 'read', '--catalog', 'catalog.json', '--state', 'state.json')
    // A destination keeps what it received before a sync failed, but overwrites nothing.
    const loads = METRICS.map((metric) => loadSql(metric, DAY))
    if (read.code === 0) loads.push(loadSql('brands', BRAND))
    await duckdb(file, `set file_search_path = '${own}'; ${loads.join('')}`)
    for (const { state } of read.messages)
      if (state !== undefined) states.set(state.stream.stream_descriptor.name, state)
    if (isFirst) await build()
    const errors = read.messages.flatMap(({ trace }) => trace?.error?.message ?? [])
    const problems = (await duckdb(file, await proofOf(own))).map((problem) => problem.name)
    return { code: read.code, errors, problems }
  }

  return {
    own,
    sync,
    /** The days that have rows, with their brands. */
    days: async () => {
      const rows = await duckdb(file, `select distinct brand_id || ' ' || date as day from exact.visibility`)
      return rows.map(({ day }) => day).sort()
    },
    /** Removes the state and the records, as Airbyte's *Clear data* does. */
    clear: async () => {
      states.clear()
      await rm(file)
    },
  }
}

test('changes of the brands and of the plan arrive, or the README says how they show', async () => {
  const org = await organization(db, { plan: 'pro' })
  const elsewhere = await organization(db)
  const places = await place(db)
  const today = Date.now()
  const dayOf = (age: number) => new Date(today - age * 86_400_000).toISOString().slice(0, 10)
  const say = async (brandId: string, age: number) =>
    answer(db, { ...places, prompt: await prompt(db, brandId), at: `${dayOf(age)}T12:00:00Z` })
  const listed = await brand(db, org)
  const unlisted = await brand(db, org)
  const inactive = await brand(db, org, { active: false })
  const moved = await brand(db, elsewhere)
  for (const each of [listed, unlisted, inactive, moved]) for (const age of [20, 200]) await say(each, age)
  const { id, key } = await exportKey(db, org, { brand_ids: [listed] })
  await refresh(db)
  const days = (ages: readonly number[], ...brands: string[]) =>
    brands.flatMap((each) => ages.map((age) => `${each} ${dayOf(age)}`))
  const config = { base_url: inject('serviceUrl'), api_key: key }
  const exact = { code: 0, errors: [], problems: [] }

  const { sync, clear, days: copied } = connection('brands')
  expect(await sync(config)).toEqual(exact)
  expect(await copied()).toEqual(days([20], listed))

  // The key's own list and the plan grow.
  await db.query('update api_keys set brand_ids = null where id = $1', [id])
  await db.query(`update subscriptions set plan = 'enterprise' where organization_id = $1`, [org.id])
  await say(listed, 10)
  await refresh(db)
  expect(await sync(config)).toEqual({ ...exact, problems: ['each_brand_has_days'] })
  expect(await copied()).toEqual(days([20, 10], listed))
  await clear()
  expect(await sync(config)).toEqual(exact)
  expect(await copied()).toEqual([...days([200, 20, 10], listed), ...days([200, 20], unlisted)].sort())

  // Brands of the organization come and go.
  await db.query('update brands set active = id <> $1 where id = any($2)', [listed, [listed, inactive]])
  await db.query('update brands set organization_id = $1 where id = $2', [org.id, moved])
  await refresh(db)
  expect(await sync(config)).toEqual(exact)
  expect(await copied()).toEqual(days([200, 20], unlisted, inactive, moved).sort())
  await say(listed, 30)
  await db.query('update brands set active = true where id = $1', [listed])
  await refresh(db)
  expect(await sync(config)).toEqual(exact)
  const all = [...days([200, 30, 20, 10], listed), ...days([200, 20], unlisted, inactive, moved)]
  expect(await copied()).toEqual(all.sort())
})

test('keeps the promises of a loader with dbt, but for a plan and a list of brands that grow', async () => {
  const { own, sync } = connection('life')
  const verdicts = await certify({
    command: async ({ EXPORT_API_URL, EXPORT_API_KEY, EXPORT_API_START_DATE }) => {
      const config = {
        base_url: EXPORT_API_URL,
        api_key: EXPORT_API_KEY,
        start_date: EXPORT_API_START_DATE,
      }
      const { code, errors, problems } = await sync(config)
      return { code: code || problems.length, output: [...errors, ...problems].join('\n') }
    },
    copy: 'duckdb:export.duckdb',
    schema: 'exact',
    folder: own,
  })
  // `/brands`, and `/days` of six metrics.
  expect(verdicts[1]?.requests).toBe(7)
  expect(verdicts.filter(({ kept }) => !kept).map(({ promise }) => promise)).toEqual([
    'A plan that reaches further back again completes the copy.',
    'A key whose list of brands grows has all their rows.',
  ])
}, 1_800_000)
