import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import visibility, { VisibilityRow } from '../../functions/visibility.ts'
import { fieldNames } from '../../lib/rows/schema.ts'
import { loggedLines } from '../fixtures/log.ts'
import { neonAnswers, neonRows } from '../mocks/neon.ts'
import { bindings, counted, counterAnswers } from '../mocks/upstash.ts'

loggedLines()

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

const ID = '11111111-1111-1111-1111-111111111111'

/** What a statement finds: one row, after which others follow or not. */
function found(hasMore: boolean) {
  const cells = fieldNames(VisibilityRow).map((name) => [`cells_${name}`, '1'])
  const row = {
    key_id: 'key',
    organization_id: 'organization',
    plan: 'pro',
    brand_id: ID,
    as_of: null,
    fits: '1',
    has_more: String(hasMore),
    ...Object.fromEntries(cells),
    last_date: '2026-10-01',
    last_model_id: 'a',
    last_market_id: ID,
    total: '2',
  }
  return neonRows([Object.values(row)], { columns: Object.keys(row) })
}

test('a file keeps its window over midnight', async () => {
  counterAnswers(counted(1))
  const requests = neonAnswers(found(true), found(false))
  vi.setSystemTime('2026-11-22T23:59:59.000Z')
  const url = `http://localhost/api/export/v1/visibility?brandId=${ID}&fromDate=2000-01-01&format=csv`
  const headers = { 'X-API-Key': `svc_live_${'0'.repeat(64)}` }
  const response = await visibility.fetch(new Request(url, { headers }), bindings())
  expect(response.headers.get('Content-Disposition')).toContain('_2026-08-24_2026-11-22.csv')
  vi.setSystemTime('2026-11-23T00:00:01.000Z')
  expect((await response.text()).split('\r\n')).toHaveLength(4)
  const windows = requests.map(({ params }) => {
    const byPlan = [params].flat().find((value) => String(value).startsWith('{"pro"'))
    return JSON.parse(String(byPlan)).pro
  })
  const window = { first: '2026-08-24', last: '2026-11-22' }
  expect(windows).toEqual([window, window])
})
