import { afterAll, expect, test } from 'vitest'
import type { Emulator } from '../../emulator/start.ts'
import { call } from '../support/call.ts'
import { fillDaily } from '../support/daily.ts'
import { isolatedPool } from '../support/isolated.ts'
import { startOwnService } from '../support/own-service.ts'
import { tableOf } from '../support/schema.ts'
import { tenant } from '../support/tenant.ts'

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

const { db, url: databaseUrl } = await isolatedPool()
const its = await tenant(db)
await fillDaily(db, { name: 'citations', brandId: its.brandId, rows: ROWS, first: QUERY.fromDate, days: 7 })

const services: Emulator[] = []
afterAll(async () => {
  for (const service of services) await service.close()
})

async function serve(vars: Record<string, string>): Promise<string> {
  const service = await startOwnService({ databaseUrl, vars })
  services.push(service)
  return service.url
}

async function page(service: string, cursor?: string) {
  const options = { service, key: its.key, query: { brandId: its.brandId, ...QUERY, cursor } }
  const { status, data = [], meta, pagination } = await call('/citations', options)
  const urls = data.map(({ date, url }) => `${date} ${url}`)
  return { status, urls, meta, cursor: pagination?.nextCursor ?? undefined }
}

test('a pull under way goes through a migration, new Workers and a new cursor secret: every row once', {
  timeout: 180_000,
}, async () => {
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
