import { randomBytes, randomUUID } from 'node:crypto'
import type pg from 'pg'
import { type Answer, type Call, call, FRESH } from '../fixtures/call.ts'
import { findEndpoints } from '../fixtures/endpoints.ts'
import { fillDaily } from '../fixtures/fill-daily.ts'
import { tenant } from '../fixtures/tenant.ts'

/** A request that reaches one stage of an endpoint, and its response without faults. */
export type Stage = {
  readonly name: string
  readonly path: string
  readonly call: Call
  readonly whole: Answer
  /** Whether it reaches the database. */
  readonly asks: boolean
}

const ROWS = 1001
const WINDOW = { fromDate: '2015-01-01', toDate: '2019-12-31' }

/** All first pages but one end here: a page that is requested hundreds of times has to be small. */
const FEW_DAYS = '2015-01-20'

/** The stages of every endpoint, found from functions/, with data for two pages each; and the description itself. */
export async function findStages(db: pg.Pool, service: string): Promise<Stage[]> {
  const { key, brandId } = await tenant(db)
  const stranger = `svc_live_${randomBytes(32).toString('hex')}`
  const endpoints = await findEndpoints()
  const full = endpoints.find(({ kind }) => kind === 'metric')?.path

  const stage = async (name: string, path: string, options: Call, asks = true): Promise<Stage> => {
    const request = { service, headers: FRESH, ...options }
    return { name: `${path} ${name}`, path, call: request, whole: await call(path, request), asks }
  }
  const pages = async (name: string, path: string): Promise<Stage[]> => {
    await fillDaily(db, { name, brandId, rows: ROWS, first: WINDOW.fromDate, days: ROWS })
    const query = { brandId, ...WINDOW }
    const { pagination } = await call(path, { service, key, query })
    const cursor = pagination.nextCursor ?? undefined
    if (path !== full) await thin(db, name, brandId)
    const served = [
      await stage('first page', path, { key, query }),
      await stage('next page', path, { key, query: { ...query, cursor } }),
    ]
    // Errors come from the same code for every paged endpoint.
    if (path !== full) return served
    return [
      ...served,
      await stage('rejected key', path, { key: stranger, query }),
      await stage('malformed parameter', path, { key, query: { ...query, toDate: 'today' } }),
      await stage('unknown brand', path, { key, query: { ...query, brandId: randomUUID() } }),
    ]
  }
  const found = endpoints.map(async ({ name, path, kind }) =>
    kind === 'brands'
      ? [await stage('list', path, { key }), await stage('rejected key', path, { key: stranger })]
      : pages(name, path),
  )
  const document = await stage('document', '/openapi.json', {}, false)
  return [document, ...(await Promise.all(found)).flat()]
}

/** Takes rows out of the first page of a brand, and leaves the second as it was. */
async function thin(db: pg.Pool, name: string, brandId: string): Promise<void> {
  const last = `(select max(date) from daily.${name.replaceAll('-', '_')} where brand_id = $1)`
  await db.query(
    `delete from daily.${name.replaceAll('-', '_')} where brand_id = $1 and date > $2 and date < ${last}`,
    [brandId, FEW_DAYS],
  )
}
