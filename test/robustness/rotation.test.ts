import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Emulator } from '../../emulator/start.ts'
import { fillDaily } from '../support/daily.ts'
import { startOwnService } from '../support/own-service.ts'
import { type Tenant, tenant } from '../support/tenant.ts'
import { database } from '../support/world.ts'

const db = database()

const A = 'the-first-secret-of-tests'
const B = 'the-second-secret-of-tests'

/** The service before a rotation of the cursors' secret, in the middle of it, and after it. */
const STAGES = {
  before: { CURSOR_SECRET: A },
  during: { CURSOR_SECRET: B, CURSOR_SECRET_PREVIOUS: A },
  after: { CURSOR_SECRET: B },
} as const

type Stage = keyof typeof STAGES

const services = new Map<Stage, Emulator>()
let its: Tenant

beforeAll(async () => {
  its = await tenant(db)
  await fillDaily(db, { name: 'citations', brandId: its.brandId, rows: 3500, first: '2026-10-01', days: 7 })
  for (const stage of ['before', 'during', 'after'] as const) {
    services.set(stage, await startOwnService({ vars: STAGES[stage] }))
  }
})

afterAll(async () => {
  for (const service of services.values()) await service.close()
})

type Page = { status: number; urls: string[]; meta: unknown; cursor: string }

async function page(stage: Stage, cursor?: string): Promise<Page> {
  const url = new URL('/api/export/v1/citations', services.get(stage)?.url)
  const query = { brandId: its.brandId, fromDate: '2026-10-01', ...(cursor !== undefined && { cursor }) }
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  const headers = { 'X-API-Key': its.key, 'User-Agent': randomUUID() }
  const response = await fetch(url, { headers })
  const { data = [], meta, pagination } = await response.json()
  const urls = data.map((row: { date: string; url: string }) => `${row.date} ${row.url}`)
  return { status: response.status, urls, meta, cursor: pagination?.nextCursor ?? '' }
}

test('a pull goes on through a rotation of the secret: every row once, in one window', async () => {
  const pages = [await page('before')]
  for (const stage of ['during', 'during', 'after'] as const) {
    pages.push(await page(stage, pages.at(-1)?.cursor))
  }
  expect(pages.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(pages.map(({ urls }) => urls.length)).toEqual([1000, 1000, 1000, 500])
  expect(new Set(pages.flatMap(({ urls }) => urls)).size).toBe(3500)
  for (const { meta } of pages) expect(meta).toEqual(pages[0]?.meta)
  expect(pages.at(-1)?.cursor).toBe('')

  const [ofFirst, ofSecond] = pages.map(({ cursor }) => cursor)
  expect((await page('after', ofFirst)).status).toBe(400)
  expect((await page('before', ofSecond)).status).toBe(400)
})
