import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findWorkers } from '../../cli/workers/find-workers.ts'
import type { Emulator } from '../../emulator/emulator.ts'
import { callOf } from '../../lib/database/statement.ts'
import { call } from '../fixtures/call.ts'
import { hasRowsOfBrand } from '../fixtures/endpoints.ts'
import { fillDaily, hasManyRowsADay } from '../fixtures/fill-daily.ts'
import { startOwnService } from '../fixtures/own-service.ts'
import { database, manyBrands, organization } from '../fixtures/rows.ts'
import { MAPPED, tableOf } from '../fixtures/schema.ts'
import { type Tenant, tenant } from '../fixtures/tenant.ts'

type Node = Readonly<Record<string, unknown>> & { readonly Plans?: readonly Node[] }

const db = database()
const reading: Promise<{ query: string; params: (string | null)[] }>[] = []
let service: Emulator

// A service of its own that hands every statement to the test on its way to the database.
beforeAll(async () => {
  service = await startOwnService({
    intercept: (server, request) => {
      if (server === 'neon') reading.push(request.clone().json())
      return undefined
    },
  })
})

afterAll(() => service.close())

const workers = await findWorkers()
const paged = workers.filter(({ operation }) => hasRowsOfBrand(operation)).map(({ name }) => name)
const texts = new Map<string, string>()
for (const { statements } of workers) {
  for (const statement of Object.values(statements)) texts.set((await callOf(statement)).sql, statement.sql)
}

// A connection that keeps a plan makes one for any parameters; a statement that comes as text has one for its own.
const PLANS = ['force_generic_plan', 'force_custom_plan']

test.each(paged)('/%s reads a page as a range of its index, on the first page and later', async (name) => {
  const its = await tenant(db)
  const days = (await hasManyRowsADay(db, name)) ? 10 : 8000
  await fillDaily(db, { name, brandId: its.brandId, rows: 8000, first: '1960-01-01', days })
  await db.query(`vacuum analyze daily.${name.replaceAll('-', '_')}`)

  const first = await page(name, its)
  const second = await page(name, its, first.pagination.nextCursor)
  expect(second.data).toHaveLength(1000)
  const asked = await Promise.all(reading.splice(0))
  expect(asked).toHaveLength(2)
  for (const { query, params } of asked)
    for (const mode of PLANS) {
      const nodes = flatten(await plan({ statement: texts.get(query) ?? '', params, mode }))
      const reads = nodes.filter(
        (node) => node.Schema === 'daily' || node['Relation Name'] === name.replaceAll('-', '_'),
      )
      expect(nodes.map((node) => node['Node Type'])).not.toContain('Sort')
      expect(reads.filter((node) => node['Actual Rows'] !== 0)).toMatchObject([
        { 'Node Type': 'Index Scan', 'Actual Rows': 1001, 'Actual Loops': 1 },
      ])
      expect(reads.filter((node) => node.Filter !== undefined && node['Actual Rows'] !== 0)).toEqual([])
    }
})

test('/days reads an index entry of each brand, and rows in proportion to a page', async () => {
  const BRANDS = 500
  const its = await tenant(db)
  await manyBrands(db, its.org, BRANDS - 1)
  const others = await organization(db)
  await manyBrands(db, others, 10 * BRANDS)
  // Emptied days, which need no stored rows.
  await db.query(
    `insert into daily.changes
       (brand_id, endpoint, date, rows, bytes, totals, digest, causes, changed_at, first_changed_at, batch)
     select id, 'visibility', date '2026-01-01' + number, 0, 0, '{}', '000000000000000', '{}', at, at, 1
     from export_source.brands cross join generate_series(10, 29) as number
     cross join lateral (select '2026-11-01T00:00:00.0000' || number || 'Z' as at) as listed
     where organization_id in ($1, $2)`,
    [its.org.id, others.id],
  )
  await db.query('vacuum analyze daily.changes')
  const nothing = await days(its, { since: '9999-01-01T00:00:00.000000Z' })
  const first = await days(its)
  const second = await days(its, { cursor: first.pagination.nextCursor })
  expect([nothing, first, second].map(({ data }) => data.length)).toEqual([0, 1000, 1000])
  const asked = await Promise.all(reading.splice(0))
  expect(asked).toHaveLength(3)
  for (const [index, { query, params }] of asked.entries())
    for (const mode of PLANS) {
      const nodes = flatten(await plan({ statement: texts.get(query) ?? '', params, mode }))
      const reads = nodes.filter((node) => node['Relation Name'] === 'changes' && node['Actual Loops'] !== 0)
      expect(reads.filter((node) => !/^Index (Only )?Scan$/.test(String(node['Node Type'])))).toEqual([])
      // A probe of the index reads a block of each of its levels, and the heap's while it is not vacuumed.
      const blocks = reads.reduce((sum, node) => sum + blocksOf(node), 0)
      expect(blocks).toBeLessThanOrEqual(index === 0 ? 5 * BRANDS : 20 * 1001)
      // The brands of an application without an index on them are sorted; the days of all brands never are.
      const sorted = nodes
        .filter((node) => node['Node Type'] === 'Sort')
        .map((node) => Number(node['Actual Rows']))
      expect(Math.max(0, ...sorted)).toBeLessThanOrEqual(1001)
    }
})

test('/brands hashes the list of the key, and reads the parts of a file as ranges of an index', async () => {
  const { org, key, keyId } = await tenant(db)
  await manyBrands(db, org, 2000)
  await manyBrands(db, await organization(db), 20_000)
  await db.query(`vacuum analyze ${tableOf('brands')}`)
  await db.query('update api_keys set brand_ids = array(select id from brands) where id = $1', [keyId])
  for (const query of ['', '?format=csv']) {
    const response = await fetch(`${service.url}/api/export/v1/brands${query}`, {
      headers: { 'X-API-Key': key },
    })
    await response.text()
  }
  const [all, ...parts] = await Promise.all(reading.splice(0))
  expect(parts).toHaveLength(2)
  for (const asked of [all, ...parts])
    for (const mode of PLANS) {
      const { query = '', params = [] } = asked ?? {}
      // Sorting so few brands costs about as much as reading them in order.
      const settings = 'set local enable_sort = off'
      const nodes = flatten(await plan({ statement: texts.get(query) ?? '', params, mode, settings }))
      const reads = nodes.filter(({ Filter }) => String(Filter).includes('brand_ids'))
      expect(reads.length).toBeGreaterThan(0)
      for (const { Filter } of reads) expect(Filter).toContain('hashed SubPlan')
      // Another application has its own indexes.
      if (asked === all || MAPPED) continue
      expect(nodes.map((node) => node['Node Type'])).not.toContain('Sort')
      expect(reads.filter((node) => node['Actual Rows'] === 1001)).toMatchObject([
        { 'Node Type': 'Index Scan', 'Rows Removed by Filter': 0 },
      ])
    }
})

type Asked = {
  readonly statement: string
  readonly params: readonly (string | null)[]
  readonly mode: string
  readonly settings?: string
}

async function plan({ statement, params, mode, settings = '' }: Asked): Promise<Node> {
  const client = await db.connect()
  try {
    await client.query(`begin; set local plan_cache_mode = ${mode}; ${settings}`)
    await client.query(`prepare page (${params.map(() => 'text')}) as ${statement}`)
    const { rows } = await client.query(
      `explain (analyze, buffers, timing off, format json) execute page (${params.map(literal)})`,
    )
    return rows[0]['QUERY PLAN'][0].Plan
  } finally {
    await client.query('deallocate page; rollback')
    client.release()
  }
}

const literal = (param: string | null): string => (param === null ? 'null' : pg.escapeLiteral(param))

const page = (name: string, { key, brandId }: Tenant, cursor?: string | null) =>
  call(`/${name}`, {
    service: service.url,
    key,
    query: { brandId, fromDate: '1960-01-01', cursor: cursor ?? undefined },
  })

/** A page of days. Its documents are no rows of a metric, which `call` expects. */
async function days({ key }: Tenant, query: Readonly<Record<string, string>> = {}) {
  const headers = { 'X-API-Key': key, 'User-Agent': randomUUID() }
  const response = await fetch(`${service.url}/api/export/v1/days?${new URLSearchParams(query)}`, { headers })
  const page: { data: unknown[]; pagination: { nextCursor: string } } = await response.json()
  return page
}

/** The blocks that a scan reads. */
const blocksOf = (node: Node): number =>
  Number(node['Shared Hit Blocks']) + Number(node['Shared Read Blocks'])

const flatten = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(flatten)]
