import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Emulator } from '../../emulator/start.ts'
import { fillDaily } from '../support/daily.ts'
import type { OwnDatabase } from '../support/database.ts'
import { isolatedDatabase } from '../support/isolated.ts'
import { startOwnService } from '../support/own-service.ts'
import { tableOf } from '../support/schema.ts'
import { type Tenant, tenant } from '../support/tenant.ts'

/** What a later release might bring: more columns, more tables, more to read in them. */
const MIGRATION = `
  alter table daily.citations add column first_seen date;
  alter view metrics.citations rename to citations_before;
  create view metrics.citations as select *, date as first_seen from metrics.citations_before;
  alter table ${tableOf('citations')} add column rank integer not null default 0;
  create table daily.later (brand_id uuid, date date, primary key (brand_id, date));
  create index on daily.citations (brand_id, citations);
  grant select on daily.later to export_api_reader`

const ROWS = 3500
const QUERY = { fromDate: '2026-10-01', toDate: '2026-10-07' }

let own: OwnDatabase
let db: pg.Pool
let its: Tenant
const services: Emulator[] = []

beforeAll(async () => {
  own = await isolatedDatabase()
  db = new pg.Pool({ connectionString: own.url, max: 2 })
  its = await tenant(db)
  await fillDaily(db, { name: 'citations', brandId: its.brandId, rows: ROWS, first: QUERY.fromDate, days: 7 })
})

afterAll(async () => {
  for (const service of services) await service.close()
  await db.end()
  await own.drop()
})

async function serve(vars: Record<string, string>): Promise<string> {
  const service = await startOwnService({ databaseUrl: own.url, vars })
  services.push(service)
  return service.url
}

type Page = { status: number; urls: string[]; meta: unknown; cursor: string | undefined }

async function page(service: string, cursor?: string): Promise<Page> {
  const url = new URL('/api/export/v1/citations', service)
  const query = { brandId: its.brandId, ...QUERY, ...(cursor !== undefined && { cursor }) }
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  const response = await fetch(url, { headers: { 'X-API-Key': its.key, 'User-Agent': randomUUID() } })
  const { data = [], meta, pagination } = await response.json()
  const urls = data.map((row: { date: string; url: string }) => `${row.date} ${row.url}`)
  return { status: response.status, urls, meta, cursor: pagination?.nextCursor ?? undefined }
}

test('a pull under way goes through a migration, new Workers and a new cursor secret: every row once', async () => {
  const before = await serve({ CURSOR_SECRET: 'the-secret-before' })
  const pages = [await page(before)]
  await db.query(MIGRATION)
  pages.push(await page(before, pages.at(-1)?.cursor))
  const after = await serve({
    CURSOR_SECRET: 'the-secret-after',
    CURSOR_SECRET_PREVIOUS: 'the-secret-before',
  })
  for (let cursor = pages.at(-1)?.cursor; cursor !== undefined; cursor = pages.at(-1)?.cursor) {
    pages.push(await page(after, cursor))
  }
  expect(pages.map(({ status, urls }) => [status, urls.length])).toEqual([
    [200, 1000],
    [200, 1000],
    [200, 1000],
    [200, 500],
  ])
  expect(new Set(pages.flatMap(({ urls }) => urls)).size).toBe(ROWS)
  for (const { meta } of pages) expect(meta).toEqual(pages[0]?.meta)

  const forgetful = await serve({ CURSOR_SECRET: 'the-secret-after' })
  expect((await page(forgetful, pages[0]?.cursor)).status).toBe(400)
})
