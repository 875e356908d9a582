import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DefaultSettings, TaskUtils } from '@microsoft/powerquery-parser'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import type { Intercept } from '../../emulator/workers/outbound.ts'
import { startFlakyProxy } from '../../test/faults/flaky-proxy.ts'
import { startRedirectingServer } from '../../test/faults/redirecting-server.ts'
import { pull, type Row } from '../../test/fixtures/call.ts'
import { fillDaily } from '../../test/fixtures/fill-daily.ts'
import { addHostileTexts, HOSTILE_BRAND } from '../../test/fixtures/hostile-texts.ts'
import { startOwnService } from '../../test/fixtures/own-service.ts'
import { hasAll } from '../../test/fixtures/programs.ts'
import { brand, database } from '../../test/fixtures/rows.ts'
import { type Tenant, tenant } from '../../test/fixtures/tenant.ts'
import { expectTyped } from '../test-support/column-types.ts'
import { type Server, startPostgres } from '../test-support/postgres.ts'
import { codeOf, type Loaded, type Place, psql, RECIPES, runIn } from './recipes.ts'

// Runs the code of connectors/recipes/README.md as it stands there, apart from address, key and brand.

const DISTANT_DAYS = ['0001-01-01', '9999-12-31']

const db = database()
const isInstalled = hasAll('curl', 'psql')

/** Its rows of citation-share are plain, but for the last ones: DuckDB's sniffer reads 20,480. */
let its: Tenant
/** Brands of the same key: its rows are all hostile, it has none, or they are of the first and the last day. */
let hostile: string
let empty: string
let distant: string
let postgres: Server
let folder: string
/** A service whose files break after their first 1000 rows. */
let breaking: { readonly url: string; readonly close: () => Promise<void> }

/** Finds no active key in the statements after a file's first: these have the last row's key as parameters, too. */
const revokeInFile: Intercept = async (service, request, genuine) => {
  if (service !== 'neon') return undefined
  const { params } = await request.clone().json()
  if (params.length <= 5) return undefined
  return Response.json({ ...(await (await genuine()).json()), rows: [], rowCount: 0 })
}

beforeAll(async () => {
  if (!isInstalled) return
  its = await tenant(db)
  const { brandId } = its
  const days = { brandId, first: '2026-10-01', days: 30 }
  await fillDaily(db, { ...days, name: 'citation-share', rows: 20_500 })
  await fillDaily(db, { ...days, name: 'visibility', rows: 1500 })
  await fillDaily(db, { ...days, name: 'sentiment', rows: 30 })
  for (const change of [
    `citation_share set domain = null where citations % 3 = 0`,
    `visibility set visibility_rate = total_prompts / 37.0 where true`,
    `sentiment set positive_weight = positive_mentions * 1234567.0123, sentiment_score = 33.3333 where true`,
    `sentiment set sentiment_score = null where positive_mentions % 3 = 1`,
  ])
    await db.query(`update daily.${change} and brand_id = $1`, [brandId])
  hostile = await brand(db, its.org, HOSTILE_BRAND)
  empty = await brand(db, its.org, { name: 'Without rows' })
  distant = await brand(db, its.org, { name: 'With distant days' })
  for (const name of ['citation-share', 'visibility', 'sentiment'])
    for (const first of DISTANT_DAYS) await fillDaily(db, { name, brandId: distant, rows: 1, first, days: 1 })
  for (const id of [brandId, hostile]) await addHostileTexts(db, id, '2026-10-31')
  folder = await mkdtemp(join(tmpdir(), 'recipes-'))
  // The user of PostgreSQL passes through it.
  await chmod(folder, 0o755)
  postgres = await startPostgres(folder)
  breaking = await startOwnService({ intercept: revokeInFile })
})

afterAll(async () => {
  if (!isInstalled) return
  await breaking.close()
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Makes a folder and a database, in which a recipe runs. */
async function place({
  url = inject('serviceUrl'),
  key = its.key,
  brandId = its.brandId,
} = {}): Promise<Place> {
  const own = await mkdtemp(join(folder, 'run-'))
  const PGDATABASE = own.slice(-6)
  const env = { ...postgres.env, PGDATABASE }
  const made = { url, key, brandId, folder: own, env }
  await psql({ ...made, env: postgres.env }, '-c', `create database "${PGDATABASE}"`)
  return made
}

const served = (endpoint: string, brandId = its.brandId): Promise<Row[]> =>
  pull(`/${endpoint}`, { key: its.key, query: { brandId, fromDate: '2026-10-01' } })

/** Compares rows in any order. Prints those that differ, not all. */
function expectEqual(loaded: readonly Row[], expected: readonly Row[]): void {
  const [ours, theirs] = [loaded, expected].map((rows) => rows.map((row) => JSON.stringify(row)).sort())
  const lacking = (all: readonly string[] = [], other: readonly string[] = []) => {
    const known = new Set(other)
    return all.filter((row) => !known.has(row))
  }
  expect(lacking(ours, theirs)).toEqual(lacking(theirs, ours))
  expect(loaded).toHaveLength(expected.length)
}

describe.skipIf(!isInstalled)('connectors/recipes/README.md', () => {
  const cases = RECIPES.flatMap((recipe) => ['plain', 'hostile', 'no'].map((kind) => ({ ...recipe, kind })))
  test.for(cases)('$name loads $kind rows with their types', async ({ name, kind, endpoints, run, read }) => {
    const here = await place({ brandId: { hostile, no: empty }[kind] })
    const printed = await run(here)
    for (const endpoint of endpoints) {
      const { types, rows } = (await read(here, endpoint)) ?? { types: [], rows: [] }
      expectTyped(endpoint, types)
      // pandas has no empty text next to a missing one.
      const expected = (await served(endpoint, here.brandId)).map((row) =>
        name === 'pandas' && row.domain === '' ? { ...row, domain: null } : row,
      )
      expectEqual(rows, expected)
    }
    if (name === 'DuckDB' && kind !== 'no') {
      const rows = await served('citation-share', here.brandId)
      const sum = (field: string) => rows.reduce((total, row) => total + Number(row[field]), 0)
      const rate = Number(printed.trimEnd().split('\n').at(-1))
      expect(rate).toBe((sum('owned_citations') / sum('citations')) * 100)
    }
  })

  test.for(RECIPES)('$name loads the first and the last day', async ({ endpoints, run, read }) => {
    const dates = `fromDate=${DISTANT_DAYS[0]}&toDate=${DISTANT_DAYS[1]}`
    const here = { ...(await place({ brandId: distant })), dates }
    await run(here)
    for (const endpoint of endpoints) {
      const { rows = [] } = (await read(here, endpoint)) ?? {}
      expect(rows.map(({ date }) => date).sort()).toEqual(DISTANT_DAYS)
    }
  })

  test.for(RECIPES)('$name fails with a wrong key, and loads nothing', async ({
    endpoints,
    run,
    read,
    unauthorized,
  }) => {
    const here = await place(wrongKey())
    await expect(run(here)).rejects.toThrow(unauthorized)
    expectNothing(await read(here, endpoints[0] ?? ''))
  })

  test.for(RECIPES)('$name fails when the transfer breaks, and loads nothing', async ({
    endpoints,
    run,
    read,
    broken,
  }) => {
    const here = await place({ url: breaking.url })
    await expect(run(here)).rejects.toThrow(broken)
    expectNothing(await read(here, endpoints[0] ?? ''))
  })

  // DuckDB follows each redirect.
  const others = RECIPES.filter(({ name }) => name !== 'DuckDB')
  test.for(others)('$name follows no redirect, and loads nothing', async ({ endpoints, run, read }) => {
    const { url, followed, close } = await startRedirectingServer()
    onTestFinished(async () => void (await close()))
    const here = await place({ url })
    // curl takes a redirect for a success.
    await run(here).catch(String)
    expect(followed).toEqual([])
    expectNothing(await read(here, endpoints[0] ?? ''))
  })

  test('pandas sends a User-Agent of its own', async () => {
    const { url, asked, close } = await startFlakyProxy(inject('serviceUrl'))
    onTestFinished(close)
    const here = await place({ url })
    await runIn(here, 'python3', '-c', codeOf('pandas', 'python', here))
    expect([...asked.values()]).toEqual(Array(2).fill(['acme-notebook/1.0']))
  })

  test('pandas says that the key is missing', async () => {
    const here = await place({ key: '' })
    const code = codeOf('pandas', 'python', here)
    await expect(runIn(here, 'python3', '-c', code)).rejects.toThrow(
      /^Set EXPORT_API_KEY to your API key\.\n\n$/,
    )
  })

  test('the first look lists the brands', async () => {
    const here = await place()
    const listed = await runIn(here, 'sh', '-c', codeOf('A first look', 'sh', here))
    expect(listed).toMatch(new RegExp(`^id,name,[^\r]*\r\n${its.brandId},`))
  })

  test('curl saves whole files under the names of the service', async () => {
    const here = await place()
    await runIn(here, 'sh', '-c', codeOf('curl', 'sh', here))
    const [csv = '', ndjson = '', ...others] = (await readdir(here.folder)).sort()
    expect(others).toEqual([])
    const dates = `${its.brandId}_2026-10-01_\\d{4}-\\d\\d-\\d\\d`
    expect(csv).toMatch(new RegExp(`^citation-share_${dates}\\.csv$`))
    expect(ndjson).toMatch(new RegExp(`^sentiment_${dates}\\.ndjson$`))
    const [url = ''] = codeOf('curl', 'sh', here).match(/http:[^']*format=csv[^']*/) ?? []
    const whole = await fetch(url, { headers: { 'X-API-Key': its.key } })
    expect(await readFile(join(here.folder, csv), 'utf8')).toBe(await whole.text())
    const lines = (await readFile(join(here.folder, ndjson), 'utf8')).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(await served('sentiment'))
    await expect(runIn(here, 'sh', '-c', codeOf('curl', 'sh', here))).rejects.toThrow('curl: (23)')
  })

  test.for([
    ['a wrong key', '(22)'],
    ['a transfer that breaks', '(18)'],
  ])('curl fails with %s, and leaves no file', async ([cause, code]) => {
    const here = await place(cause === 'a wrong key' ? wrongKey() : { url: breaking.url })
    const [first = ''] = codeOf('curl', 'sh', here).split(/(?<!\\)\n/)
    await expect(runIn(here, 'sh', '-c', first)).rejects.toThrow(`curl: ${code}`)
    expect(await readdir(here.folder)).toEqual([])
  })

  test('the query of Power Query parses, and asks for the columns that it types', async () => {
    const here = await place()
    const query = codeOf('Excel and Power BI', 'powerquery', here)
    expect(TaskUtils.isParseStageOk(await TaskUtils.tryLexParse(DefaultSettings, query))).toBe(true)
    const texts = Object.fromEntries(
      [...query.matchAll(/(\w+)"? = "([^"]*)"/g)].map(([, name, text]) => [name, text]),
    )
    const url = new URL(texts.RelativePath, /Web\.Contents\(\s*"([^"]*)"/.exec(query)?.[1])
    url.search = String(
      new URLSearchParams({ format: texts.format, brandId: texts.brandId, fromDate: texts.fromDate }),
    )
    const response = await fetch(url, { headers: { 'X-API-Key': texts.ApiKey } })
    expect(response.status).toBe(200)
    const columns = [...query.matchAll(/\{"(\w+)", (type date|\w+\.Type)\}/g)]
    const [header] = (await response.text()).split('\r\n')
    expect(columns.map(([, name]) => name).join()).toBe(header)
    expectTyped(
      'sentiment',
      columns.map(([, , type = '']) => type),
    )
  })
})

const wrongKey = () => ({ key: `${its.key.slice(0, -4)}0000` })

const expectNothing = (loaded: Loaded | null): void => expect(loaded?.rows ?? []).toEqual([])
