import { beforeAll, describe, expect, inject, test } from 'vitest'
import type { Intercept } from '../../../emulator/workers/outbound.ts'
import { readStreams } from '../../../reference/streams.ts'
import { call, pull, type Row } from '../../../test/fixtures/call.ts'
import { daysAgo } from '../../../test/fixtures/clock.ts'
import { fillDaily } from '../../../test/fixtures/fill-daily.ts'
import { startOwnService } from '../../../test/fixtures/own-service.ts'
import { database } from '../../../test/fixtures/rows.ts'
import { type Tenant, tenant } from '../../../test/fixtures/tenant.ts'
import { fillMetrics } from '../../test-support/fill-metrics.ts'
import {
  type Options,
  type Script,
  startAppsScript,
  type World,
} from '../../test-support/google/apps-script.ts'

// Runs connectors/sheets in Node, over stand-ins for Google's services and the real service.

const db = database()
const STREAMS = readStreams().filter(({ kind }) => kind !== 'changes')
const METRICS = STREAMS.filter(({ kind }) => kind === 'metric')
const START = '2026-09-01'

let its: Tenant
let script: Script | undefined

beforeAll(async () => {
  its = await tenant(db)
  await fill(its)
})

async function fill({ brandId }: Tenant): Promise<void> {
  await fillMetrics(db, brandId)
  await relist(brandId)
}

const relist = (brandId: string) =>
  db.query('select daily.relist(metric, $1) from daily.row_schemas', [brandId])

/** Starts the project in a new spreadsheet, and sets it up. */
async function setUp({
  url = inject('serviceUrl'),
  key = its.key,
  start = START,
  ...options
}: Partial<Options> & { url?: string; key?: string; start?: string } = {}): Promise<Script> {
  script = startAppsScript({ folder: 'sheets', prompts: [url, key, start, ''], ...options })
  await script.call('setUp')
  return script
}

/** Rows of a sheet as the service writes them, by the names of the columns. */
function rowsOf({ sheets }: World, stream: (typeof STREAMS)[number]): string[] {
  const { rows: [header = [], ...rows] = [] } = sheets[stream.name] ?? {}
  expect(header).toEqual(stream.columns.map(({ name }) => name))
  return rows
    .map((cells) => JSON.stringify(cells.map((cell, index) => read(stream.columns[index]?.type, cell))))
    .sort()
}

/** Reads a date and a time from the days since 1899-12-30. */
function read(type: string | undefined, cell: unknown): unknown {
  if (type !== 'date' && type !== 'timestamp') return cell
  const iso = new Date(Math.round((Number(cell) - 25_569) * 86_400_000)).toISOString()
  return type === 'date' ? iso.slice(0, 10) : iso
}

async function expectExact(world: World, { brandId, key }: Tenant): Promise<void> {
  for (const stream of METRICS) {
    const rows = await pull(`/${stream.endpoint}`, { key, query: { brandId, fromDate: START } })
    const expected = rows.map((row) => cellsOf(stream, { ...row, brand_id: brandId })).sort()
    expect(rowsOf(world, stream), stream.name).toEqual(expected)
  }
}

const cellsOf = ({ columns }: (typeof STREAMS)[number], row: Row): string =>
  JSON.stringify(columns.map(({ field }) => row[field]))

describe('connectors/sheets', () => {
  test('loads brands and metrics with their types, over pages of 1000 rows', async () => {
    const { call: run, world } = await setUp()
    await run('syncAll')
    const loaded = await world()
    expect(loaded.alerts).toEqual([expect.stringContaining('reads 1 brands')])
    expect(loaded.toasts).toEqual(['All changes are loaded.'])
    await expectExact(loaded, its)
    const [brands] = STREAMS
    if (brands?.kind !== 'listing') throw new Error('The first stream should be the brands.')
    const { data } = await call('/brands', { key: its.key })
    expect(rowsOf(loaded, brands)).toEqual(data.map((row) => cellsOf(brands, row)))
    for (const { name, columns } of STREAMS)
      for (const formats of loaded.sheets[name]?.formats.slice(1) ?? [])
        expect(formats).toEqual(columns.map(({ type }) => FORMATS[type] ?? null))
    expect(loaded.documentProperties).not.toHaveProperty('api_key')
  })

  test('replaces days that changed, and those that emptied', async () => {
    const own = await tenant(db)
    await fill(own)
    const { call: run, world } = await setUp({ key: own.key })
    await run('syncAll')
    const before = await world()
    const change = async (metric: string, day: number, statement: string) => {
      const date = `2026-10-0${day}`
      const values = [own.brandId, date]
      const { rowCount } = await db.query(`${statement} where brand_id = $1 and date = $2`, values)
      expect(rowCount).toBeGreaterThan(0)
      const listed = [metric, ...values]
      await db.query('select daily.list_changes(array[$1], array[$2::uuid], array[$3::date])', listed)
    }
    for (const [metric, day, statement] of [
      ['visibility', 2, 'update daily.visibility set visible_count = 7'],
      ['citations', 3, `update daily.citations set url = '=HYPERLINK("https://a.example")' || citations`],
      ['sentiment', 4, 'delete from daily.sentiment'],
      ['sentiment', 6, 'delete from daily.sentiment'],
      ['citation_share', 1, 'delete from daily.citation_share'],
      ['citation_share', 2, 'delete from daily.citation_share'],
      ['citation_share', 3, 'delete from daily.citation_share'],
      ['citation_share', 4, 'delete from daily.citation_share'],
      ['citation_share', 5, 'delete from daily.citation_share'],
    ] as const)
      await change(metric, day, statement)
    await run('syncAll')
    const after = await world()
    await expectExact(after, own)
    expect(after).not.toEqual(before)
    // The rows of these days are in several places now.
    for (const day of [1, 2, 3])
      await change('visibility', day, 'update daily.visibility set visible_count = 8')
    await run('syncAll')
    await expectExact(await world(), own)
    // Nothing is listed: one request for the brands, and one for the changes.
    const requests = (script?.statuses ?? []).length
    await run('syncAll')
    expect(script?.statuses.length).toBe(requests + 2)
  })

  test('waits Retry-After seconds on 429', async () => {
    let isSpent = false
    const {
      call: run,
      world,
      statuses,
    } = await setUp({
      beforeRequest: async ({ headers }) => {
        if (!isSpent) while ((await call('/openapi.json', { headers, method: 'HEAD' })).status !== 429);
        isSpent = true
      },
    })
    await run('syncAll')
    await expectExact(await world(), its)
    // Each wait was long enough.
    const following = statuses.flatMap((status, index) => (status === 429 ? [statuses[index + 1]] : []))
    expect(new Set(following)).toEqual(new Set([200]))
  })

  test('goes on after dropped connections and 503s', async () => {
    let isDown = false
    const intercept: Intercept = async (service) =>
      service === 'neon' && isDown ? new Response('down', { status: 500 }) : undefined
    const own = await startOwnService({ intercept })
    try {
      let isDropped = false
      const sent = await setUp({
        url: own.url,
        beforeRequest: async ({ url }) => {
          isDown = url.includes('/visibility') && !script?.statuses.includes(503)
          if (!url.includes('/changes') || isDropped) return
          isDropped = true
          throw new Error('socket hang up')
        },
      })
      await sent.call('syncAll')
      expect(isDropped).toBe(true)
      expect(sent.statuses).toContain(503)
      await expectExact(await sent.world(), its)
    } finally {
      await own.close()
    }
  })

  test(`ends with the service's sentence when the key is revoked`, async () => {
    const own = await tenant(db)
    const { call: run, world } = await setUp({ key: own.key })
    await db.query('update api_keys set revoked_at = now() where id = $1', [own.keyId])
    const { error } = await call('/brands', { key: own.key })
    await expect(run('syncAll')).rejects.toThrow(error)
    expect((await world()).triggers).toEqual([])
  })

  test('goes on by a trigger when the time of a run is used up', async () => {
    // A run has 4 minutes.
    const { call: run, world } = await setUp({ requestMs: 59_000 })
    await run('syncAll')
    let runs = 1
    while ((await world()).triggers.includes('resume')) {
      await run('resume')
      runs++
    }
    expect(runs).toBeGreaterThan(2)
    await expectExact(await world(), its)
  })

  test('does nothing while another run is under way', async () => {
    await expect(setUp({ isLocked: true })).rejects.toThrow('A sync is running.')
    await script?.call('syncAll')
    expect(script?.statuses).toEqual([])
    expect((await script?.world())?.documentProperties).toEqual({})
  })

  test('keeps the settings when the setup is cancelled halfway', async () => {
    const answers = [inject('serviceUrl'), its.key, START, '']
    const { call: run, world } = await setUp({ prompts: [...answers, 'https://other.example'] })
    const before = await world()
    await run('setUp')
    expect(await world()).toEqual(before)
  })

  test('loads all sheets again when one was deleted', async () => {
    const { call: run, world } = await setUp()
    await run('syncAll')
    const { sheets } = await run<{ sheets: { properties: { sheetId: number; title: string } }[] }>(
      'Sheets.Spreadsheets.get',
    )
    const sheetId = sheets.find(({ properties }) => properties.title === 'visibility')?.properties.sheetId
    await run('Sheets.Spreadsheets.batchUpdate', { requests: [{ deleteSheet: { sheetId } }] })
    expect((await world()).sheets).not.toHaveProperty('visibility')
    await run('syncAll')
    await expectExact(await world(), its)
  })

  test('loads the older days when the plan reaches further back, and keeps them when it no longer does', async () => {
    const own = await tenant(db, { plan: 'pro' })
    const sentiment = { name: 'sentiment', brandId: own.brandId, rows: 3, days: 3 }
    await fillDaily(db, { ...sentiment, first: '2026-02-01' })
    await fillDaily(db, { ...sentiment, first: daysAgo(5), from: 4 })
    await db.query('select daily.relist($1, $2)', ['sentiment', own.brandId])
    const { call: run, world } = await setUp({ key: own.key, start: '2026-01-01' })
    const loaded = async () => {
      await run('syncAll')
      return ((await world()).sheets.sentiment?.rows.length ?? 0) - 1
    }
    const change = (plan: string) =>
      db.query('update subscriptions set plan = $2 where organization_id = $1', [own.org.id, plan])
    expect(await loaded()).toBe(3)
    await change('enterprise')
    expect(await loaded()).toBe(6)
    await change('pro')
    await db.query('select daily.relist($1, $2)', ['sentiment', own.brandId])
    expect(await loaded()).toBe(6)
  })

  test('loads the older days when the plan reaches further back before an interrupted run goes on', async () => {
    const own = await tenant(db, { plan: 'pro' })
    for (const { name } of METRICS) {
      await fillDaily(db, { name, brandId: own.brandId, rows: 3, days: 3, first: '2026-02-01' })
      await fillDaily(db, { name, brandId: own.brandId, rows: 3, days: 3, first: daysAgo(5), from: 4 })
    }
    await relist(own.brandId)
    const { call: run, world } = await setUp({ key: own.key, start: '2026-01-01', requestMs: 59_000 })
    await run('syncAll')
    const { sheets, triggers } = await world()
    expect(triggers).toEqual(['resume'])
    expect(sheets.citations?.rows).toHaveLength(4)
    await db.query(`update subscriptions set plan = 'enterprise' where organization_id = $1`, [own.org.id])
    while ((await world()).triggers.includes('resume')) await run('resume')
    const loaded = await world()
    for (const { name } of METRICS) expect(loaded.sheets[name]?.rows, name).toHaveLength(7)
  })

  test('refuses to start a load for which the spreadsheet has no room', async () => {
    const { call: run, world } = await setUp({ otherCells: 9_995_000 })
    await expect(run('syncAll')).rejects.toThrow(
      /needs 100\d{5} cells, and a spreadsheet has at most 10000000/,
    )
    const { sheets } = await world()
    for (const { name } of METRICS) expect(sheets[name]?.rows).toHaveLength(1)
  })

  test('syncs every day by one trigger, until it is stopped', async () => {
    const { call: run, world } = await setUp()
    await run('syncEveryDay')
    await run('syncEveryDay')
    expect((await world()).triggers).toEqual(['syncAll'])
    await run('stopSyncing')
    expect((await world()).triggers).toEqual([])
  })
})

const FORMATS: Readonly<Record<string, string>> = { date: 'yyyy-mm-dd', timestamp: 'yyyy-mm-dd hh:mm:ss' }
