import { randomBytes } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { type Answer, call } from '../../support/call.ts'
import { fillDaily } from '../../support/daily.ts'
import { patience, tries } from '../../support/effort.ts'
import { findEndpoints } from '../../support/endpoints.ts'
import { expectError } from '../../support/refusal.ts'
import { respellings, tampered } from '../../support/tampering.ts'
import { type Tenant, tenant } from '../../support/tenant.ts'
import { brand, database, exportKey } from '../../support/world.ts'

const db = database()
const paged = (await findEndpoints()).filter((endpoint) => endpoint.paged)

const DATES = { fromDate: '2020-01-01', toDate: '2025-12-31' }

let sent = 0
let failed = 0

afterAll(() => console.log(`hostile cursors sent ${sent}, 5xx ${failed}`))

type Run = { readonly its: Tenant; readonly path: string; readonly cursor: string }

async function ask(
  path: string,
  key: string,
  query: Readonly<Record<string, string | undefined>>,
): Promise<Answer> {
  const answer = await call(path, { key, query })
  sent += 1
  if (answer.status >= 500) failed += 1
  return answer
}

/** A tenant, and the genuine cursor of a run that it began on each endpoint. */
async function began(): Promise<Run[]> {
  const its = await tenant(db)
  return Promise.all(
    paged.map(async ({ name, path }) => {
      await fillDaily(db, { name, brandId: its.brandId, rows: 1001, first: '2020-01-01', days: 1001 })
      const { pagination } = await ask(path, its.key, { brandId: its.brandId, ...DATES })
      return { its, path, cursor: pagination.nextCursor ?? '' }
    }),
  )
}

test('an altered, respelled or random cursor is 400', { timeout: patience(120_000) }, async () => {
  const [run] = await began()
  if (run === undefined) throw new Error('No endpoint is paged')
  const { its, path, cursor } = run
  const changed = [
    ...respellings(cursor),
    ...Array.from({ length: tries(150) }, () => randomBytes(4)).map((bytes) =>
      tampered(cursor, bytes.readUInt16BE(), bytes.readUInt16LE(2)),
    ),
    ...Array.from({ length: tries(50) }, (_, length) => `c${randomBytes(length * 7).toString('base64url')}`),
  ].filter((each) => each !== cursor)
  for (let from = 0; from < changed.length; from += 12) {
    const some = changed.slice(from, from + 12)
    const answers = await Promise.all(
      some.map((cursor) => ask(path, its.key, { brandId: its.brandId, ...DATES, cursor })),
    )
    for (const answer of answers) expectError(answer, 400)
  }
  const genuine = await ask(path, its.key, { brandId: its.brandId, ...DATES, cursor })
  expect([genuine.status, genuine.data.length]).toEqual([200, 1])
})

test('a genuine cursor serves its own endpoint, brand and dates, and whoever may read that brand', {
  timeout: patience(120_000),
}, async () => {
  const [runs, others] = [await began(), await began()]
  for (const [index, { its, path, cursor }] of runs.entries()) {
    const { key: colleague } = await exportKey(db, its.org)
    const sister = await brand(db, its.org)
    const { key: limited } = await exportKey(db, its.org, { brand_ids: [sister] })
    const stranger = others[index]
    const own = { brandId: its.brandId, ...DATES, cursor }
    const outcomes: [status: number, path: string, key: string, query: Record<string, string | undefined>][] =
      [
        [200, path, its.key, own],
        [200, path, colleague, own],
        [200, path, its.key, { ...own, brandId: its.brandId.toUpperCase() }],
        [400, path, its.key, { ...own, brandId: sister }],
        [400, path, its.key, { ...own, brandId: stranger?.its.brandId }],
        [400, path, its.key, { ...own, cursor: stranger?.cursor }],
        [404, path, its.key, { ...own, brandId: stranger?.its.brandId, cursor: stranger?.cursor }],
        [404, path, limited, own],
        [404, path, stranger?.its.key ?? '', own],
        [400, path, its.key, { ...own, fromDate: '2020-01-02' }],
        [400, path, its.key, { ...own, toDate: '2025-12-30' }],
        [400, path, its.key, { ...own, fromDate: undefined }],
        [400, path, its.key, { ...own, toDate: undefined }],
        ...runs
          .filter((run) => run.path !== path)
          .map((run): [number, string, string, typeof own] => [400, run.path, its.key, own]),
        [401, path, `svc_live_${'0'.repeat(64)}`, own],
      ]
    for (const [status, at, key, query] of outcomes) {
      const answer = await ask(at, key, query)
      if (status === 200) expect([answer.status, answer.data.length]).toEqual([200, 1])
      else expectError(answer, status)
    }
  }
})
