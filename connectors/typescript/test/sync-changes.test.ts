import { expect, test } from 'vitest'
import { startingOver } from '../cli/brands.ts'
import { listAlone, listTogether } from '../cli/changes.ts'
import { MovedError } from '../cli/errors.ts'
import { type Answer, fakeApi, META, page } from './fake-api.ts'

const ID = META.brandId
const [A = '', B = '', D = '', E = '', OTHER = ''] = [...'abdef'].map((digit) => ID.replaceAll('1', digit))

const change = (date: string, rows: number, micros: number, brand_id = ID) => ({
  brand_id,
  endpoint: 'visibility',
  date,
  rows,
  totals: {},
  digest: '1'.repeat(15),
  causes: { answers: at(micros) },
  changed_at: at(micros),
})
/** A `changed_at`. */
const at = (micros: number) => `2026-11-01T00:00:00.00000${micros}Z`

const LISTING = { fromDate: undefined }
const brandOf = (id: string, since: number | null, fromDate = META.fromDate) => ({
  id,
  since: since === null ? null : at(since),
  fromDate,
})

test('keeps the last change of a day that changes between two pages', async () => {
  const { api } = fakeApi([
    page([change('2026-10-01', 1, 6), change('2026-10-02', 1, 7)], 'second'),
    page([change('2026-10-01', 2, 8)]),
  ])
  const found = await listAlone({ ...LISTING, api }, brandOf(ID, 5), null)
  expect(found.days.map(({ date, rows }) => [date, rows])).toEqual([
    ['2026-10-01', 2],
    ['2026-10-02', 1],
  ])
  expect(found.since).toBe(at(8))
})

test('lists all days when the plan reaches further back', async () => {
  const { api, requests } = fakeApi([page([]), page([change('2026-10-01', 1, 4)])])
  const brand = brandOf(ID, 5, '2026-10-02')
  expect(await listAlone({ ...LISTING, api }, brand, at(7))).toMatchObject({
    isFull: true,
    // What the list does not have is later than what was received before it.
    since: at(7),
    fromDate: '2026-10-01',
  })
  expect(requests.map(({ url }) => url.searchParams.get('since'))).toEqual([at(5), null])
})

const DIGEST = { brandsDigest: '52dc3ba8379705e' }
const OF_ALL = { 'X-Brands-Digest': DIGEST.brandsDigest }
const OF_OTHERS = { 'X-Brands-Digest': '000000000000000' }

test('lists the brands that were read before together', async () => {
  const { api, requests } = fakeApi([
    page([change('2026-10-01', 1, 6, A), change('2026-10-01', 1, 7, OTHER)], null, OF_ALL),
  ])
  const brands = [brandOf(A, 5), brandOf(B, 5), brandOf(D, null)]
  const found = await listTogether({ ...LISTING, ...DIGEST, api }, [...brands, brandOf(E, 5, '2026-10-02')])
  expect([...found]).toMatchObject([
    [A, { since: at(7), isFull: false, days: [{ date: '2026-10-01', changedAt: at(6) }] }],
    [B, { since: at(7), isFull: false, days: [] }],
  ])
  expect(requests.map(({ url }) => [...url.searchParams.keys()])).toEqual([['since']])
})

test('asks for one brand only when no other was read before', async () => {
  const { api, requests } = fakeApi([page([])])
  const found = await listTogether({ ...LISTING, ...DIGEST, api }, [brandOf(A, 5), brandOf(B, null)])
  expect([...found]).toMatchObject([[A, { since: at(5), days: [] }]])
  expect(requests.map(({ url }) => url.searchParams.get('brandId'))).toEqual([A])
  expect(await listTogether({ ...LISTING, ...DIGEST, api }, [brandOf(A, null)])).toEqual(new Map())
})

test('does not use a list with a page of other brands than those that were listed', async () => {
  const { api } = fakeApi([
    page([change('2026-10-01', 1, 6, A)], 'second', OF_ALL),
    page([], null, OF_OTHERS),
  ])
  const found = listTogether({ ...LISTING, ...DIGEST, api }, [brandOf(A, 5), brandOf(B, 5)])
  await expect(found).rejects.toBeInstanceOf(MovedError)
})

/** Runs work with the brands of a service that lists these. */
function startOver(pages: readonly Answer[], work: Parameters<typeof startingOver>[1] = async () => {}) {
  const { api, requests } = fakeApi(pages)
  return { found: startingOver(api, work), requests }
}
const brands = (id: string, headers: Record<string, string> = OF_ALL) => page([{ id }], null, headers)
const moved = new MovedError('Again.')

test('work begins again with the brands that are listed then, and returns the first result', async () => {
  const { found } = startOver([brands(A), brands(B, OF_OTHERS)], async ({ listed, brandsDigest }) => {
    if (brandsDigest === DIGEST.brandsDigest) throw moved
    return listed
  })
  expect(await found).toEqual([{ id: B }])
})

test('work ends when all changes all the time, with any other error, and without a digest', async () => {
  const { found, requests } = startOver(Array(9).fill(brands(A)), () => Promise.reject(moved))
  await expect(found).rejects.toBe(moved)
  expect(requests).toHaveLength(5)
  const other = startOver([brands(A)], () => Promise.reject(new Error('Other.')))
  await expect(other.found).rejects.toThrow('Other.')
  await expect(startOver([brands(A, {})]).found).rejects.toThrow('lacks X-Brands-Digest')
})
