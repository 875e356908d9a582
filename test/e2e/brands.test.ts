import { createHash, randomUUID } from 'node:crypto'
import { describe, expect, inject, test } from 'vitest'
import { brandsDigestOf } from '../../site/reference/digest.ts'
import { call } from '../fixtures/call.ts'
import { brand, database, exportKey, manyBrands, organization } from '../fixtures/rows.ts'
import { tenant } from '../fixtures/tenant.ts'

const db = database()

test('returns each field of a brand, and null for an industry that is not set', async () => {
  const org = await organization(db)
  const { key } = await exportKey(db, org)
  const first = await brand(db, org, {
    name: 'acme',
    display_name: 'Acme “Corp” \\ 日本',
    url: 'acme.example',
    site_url: 'https://acme.example/?a=1&b="2"',
    industry: 'Tools',
    created_at: '2026-01-31T23:59:59.120Z',
  })
  const second = await brand(db, org, { name: 'bolt', created_at: '2026-02-01T01:02:03+02:00' })
  expect((await call('/brands', { key })).data).toEqual([
    {
      id: first,
      name: 'acme',
      displayName: 'Acme “Corp” \\ 日本',
      url: 'acme.example',
      siteUrl: 'https://acme.example/?a=1&b="2"',
      industry: 'Tools',
      createdAt: '2026-01-31T23:59:59.120Z',
    },
    {
      id: second,
      name: 'bolt',
      displayName: 'Acme Corporation',
      url: 'acme.example',
      siteUrl: 'https://acme.example',
      industry: null,
      createdAt: '2026-01-31T23:02:03.000Z',
    },
  ])
})

test('sorts by name in code point order, then by id', async () => {
  const org = await organization(db)
  const { key } = await exportKey(db, org)
  const ids = ['22222222-0000-4000-8000-', '11111111-0000-4000-8000-'].map(
    (start) => start + org.id.slice(-12),
  )
  for (const id of ids) await brand(db, org, { id, name: 'Same' })
  const names = '10 9 Same Same Zebra _ zebra éclair \uf900 😀'.split(' ')
  for (const name of names.filter((name) => name !== 'Same').toReversed()) await brand(db, org, { name })
  const { data } = await call('/brands', { key })
  expect(data.map(({ name }) => name)).toEqual(names)
  expect(data.filter(({ name }) => name === 'Same').map(({ id }) => id)).toEqual(ids.toReversed())
})

test('lists a brand once that the list of the key names twice', async () => {
  const org = await organization(db)
  const id = await brand(db, org)
  const { key } = await exportKey(db, org, { brand_ids: [id, id] })
  expect((await call('/brands', { key })).data).toHaveLength(1)
})

// Of /changes: test/e2e/all-changes.test.ts.
describe('X-Brands-Digest', () => {
  const digest = async (key: string, format = 'json', headers: Record<string, string> = {}) => {
    const url = new URL(`/api/export/v1/brands?format=${format}`, inject('serviceUrl'))
    const response = await fetch(url, {
      headers: { 'X-API-Key': key, 'User-Agent': randomUUID(), ...headers },
    })
    return [response.status, response.headers.get('X-Brands-Digest')]
  }

  test('is the XOR of the first 60 bits of the MD5 of each id', async () => {
    const org = await organization(db)
    const ids = ['00000000-0000-4000-8000-', 'ffffffff-ffff-4fff-bfff-'].map((id) => id + org.id.slice(-12))
    for (const id of ids) await brand(db, org, { id })
    const [first, second] = ids.map((id) =>
      BigInt(`0x${createHash('md5').update(id).digest('hex').slice(0, 15)}`),
    )
    const { key } = await exportKey(db, org, { brand_ids: ids })
    const expected = ((first ?? 0n) ^ (second ?? 0n)).toString(16).padStart(15, '0')
    expect(await digest(key)).toEqual([200, expected])
    expect(brandsDigestOf(ids)).toBe(expected)
  })

  test('is of all brands that the key reads, on each kind of response', async () => {
    const { org, key } = await tenant(db)
    await manyBrands(db, org, 1100)
    await tenant(db)
    const { rows } = await db.query('select id from brands where organization_id = $1', [org.id])
    const expected = brandsDigestOf(rows.map(({ id }) => id))
    const { headers } = await call('/brands', { key })
    expect(headers.get('X-Brands-Digest')).toBe(expected)
    for (const format of ['csv', 'ndjson']) expect(await digest(key, format)).toEqual([200, expected])
    const head = await call('/brands', { key, method: 'HEAD' })
    expect(head.headers.get('X-Brands-Digest')).toBe(expected)
    const tag = headers.get('ETag') ?? ''
    expect(await digest(key, 'json', { 'If-None-Match': tag })).toEqual([304, expected])
  })
})
