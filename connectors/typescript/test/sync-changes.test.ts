import { expect, test } from 'vitest'
import { startingOver } from '../cli/brands.ts'
import { listAlone, listTogether } from '../cli/changes.ts'
import { MovedError } from '../cli/errors.ts'
import { type Answer, fakeApi, META, page } from './fake-api.ts'

// What certify and sync-interleavings.test.ts do not see: requests that are saved, and work that ends.

const ID = META.brandId

test('keeps the last change of a day that changes between two pages', async () => {
  const at = (micros: number) => `2026-11-01T00:00:00.00000${micros}Z`
  const change = (rows: number, micros: number) => {
    const day = { brand_id: ID, endpoint: 'visibility', date: '2026-10-01', digest: '1'.repeat(15) }
    return { ...day, rows, totals: {}, causes: {}, changed_at: at(micros) }
  }
  const { api } = fakeApi([page([change(1, 6)], 'second'), page([change(2, 8)])])
  const found = await listAlone(
    { api, fromDate: undefined },
    { id: ID, since: at(5), fromDate: META.fromDate },
    null,
  )
  expect(found).toMatchObject({ days: [{ rows: 2 }], since: at(8) })
})

test('asks for one brand only when no other was read before', async () => {
  const { api, requests } = fakeApi([page([])])
  const job = { fromDate: undefined, brandsDigest: '52dc3ba8379705e', api }
  const since = '2026-11-01T00:00:00.000005Z'
  const read = { id: ID, since, fromDate: META.fromDate }
  const unread = { ...read, id: ID.replaceAll('1', 'b'), since: null }
  expect([...(await listTogether(job, [read, unread]))]).toMatchObject([[ID, { since, days: [] }]])
  expect(requests.map(({ url }) => url.searchParams.get('brandId'))).toEqual([ID])
  expect(await listTogether(job, [unread])).toEqual(new Map())
})

test('work ends when all changes all the time, with any other error, and without a digest', async () => {
  const startOver = (answers: readonly Answer[], error = new Error('Other.')) => {
    const { api, requests } = fakeApi(answers)
    return { found: startingOver(api, () => Promise.reject(error)), requests }
  }
  const brands = (headers: Record<string, string>) => page([{ id: ID }], null, headers)
  const identified = brands({ 'X-Brands-Digest': '52dc3ba8379705e' })
  const moved = new MovedError('Again.')
  const { found, requests } = startOver(Array(9).fill(identified), moved)
  await expect(found).rejects.toBe(moved)
  expect(requests).toHaveLength(5)
  await expect(startOver([identified]).found).rejects.toThrow('Other.')
  await expect(startOver([brands({})]).found).rejects.toThrow('lacks X-Brands-Digest')
})
