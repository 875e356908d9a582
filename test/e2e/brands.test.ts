import { expect, test } from 'vitest'
import { call } from '../fixtures/call.ts'
import { brand, database, exportKey, manyBrands, organization } from '../fixtures/rows.ts'

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

test('returns createdAt in UTC whatever the time zone of the connection', async () => {
  const id = await brand(db, await organization(db), { created_at: '2026-01-31T23:59:59.120Z' })
  const client = await db.connect()
  try {
    await client.query('begin')
    await client.query(`set local time zone 'Pacific/Kiritimati'`)
    const { rows } = await client.query('select "createdAt" from metrics.brands where id = $1', [id])
    expect(rows).toEqual([{ createdAt: '2026-01-31T23:59:59.120Z' }])
    await client.query('rollback')
  } finally {
    client.release()
  }
})

test('sorts by name in code point order, then by id', async () => {
  const org = await organization(db)
  const { key } = await exportKey(db, org)
  const ids = ['22222222-0000-4000-8000-', '11111111-0000-4000-8000-'].map(
    (start) => start + org.id.slice(-12),
  )
  for (const id of ids) await brand(db, org, { id, name: 'Same' })
  for (const name of ['😀', 'éclair', 'zebra', 'Zebra', '\uf900', '_', '10', '9'])
    await brand(db, org, { name })
  const { data } = await call('/brands', { key })
  expect(data.map(({ name }) => name)).toEqual([
    '10',
    '9',
    'Same',
    'Same',
    'Zebra',
    '_',
    'zebra',
    'éclair',
    '\uf900',
    '😀',
  ])
  expect(data.filter(({ name }) => name === 'Same').map(({ id }) => id)).toEqual(ids.toReversed())
})

// Which brands a key reads: test/e2e/contract.test.ts.
test('lists more brands than a page has rows, in one response', async () => {
  const org = await organization(db)
  const { key } = await exportKey(db, org)
  await manyBrands(db, org, 1100)
  const { data, text } = await call('/brands', { key })
  expect(new Set(data.map(({ id }) => id)).size).toBe(1100)
  expect(Object.keys(JSON.parse(text))).toEqual(['data'])
})

test('lists a brand once that the list of the key names twice', async () => {
  const org = await organization(db)
  const id = await brand(db, org)
  const { key } = await exportKey(db, org, { brand_ids: [id, id] })
  expect((await call('/brands', { key })).data).toHaveLength(1)
})
