import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { call } from '../support/call.ts'
import { brand, database, exportKey, organization } from '../support/world.ts'

const db = database()

test('lists a brand with all its fields and nothing else', async () => {
  const org = await organization(db)
  const { key } = await exportKey(db, org)
  const id = await brand(db, org, {
    name: 'Café "Ü"',
    display_name: 'The Café',
    url: 'cafe.example',
    site_url: 'https://cafe.example/',
    industry: 'Hospitality',
    aliases: ['Caf'],
    created_at: '2026-03-04T05:06:07.089999+02:00',
  })
  const { status, text } = await call('/brands', { key })
  expect(status).toBe(200)
  expect(text).toBe(
    `{"data":[{"id":"${id}","name":"Café \\"Ü\\"","displayName":"The Café","url":"cafe.example",` +
      '"siteUrl":"https://cafe.example/","industry":"Hospitality","createdAt":"2026-03-04T03:06:07.089Z"}]}',
  )
})

test('writes an unknown industry as null and whole seconds with milliseconds', async () => {
  const org = await organization(db)
  const { key } = await exportKey(db, org)
  await brand(db, org, { industry: null, created_at: '2026-03-04T00:00:00Z' })
  const { text } = await call('/brands', { key })
  expect(text).toContain('"industry":null,"createdAt":"2026-03-04T00:00:00.000Z"}')
})

test('orders brands by name in code point order, then by id', async () => {
  const org = await organization(db)
  const { key } = await exportKey(db, org)
  // In UTF-16 order the emoji would come before U+FF5E; a locale would put "apex" before "Zenith".
  const names = ['2 Good', 'Zenith', 'apex', 'Éclat', '～', '😀']
  for (const name of names.toReversed()) await brand(db, org, { name })
  const low = `00000000${randomUUID().slice(8)}`
  const high = `ffffffff${randomUUID().slice(8)}`
  for (const id of [high, low]) await brand(db, org, { id, name: 'Same' })
  const { data } = await call('/brands', { key })
  expect(data.map(({ name }) => name)).toEqual([
    '2 Good',
    'Same',
    'Same',
    'Zenith',
    'apex',
    'Éclat',
    '～',
    '😀',
  ])
  expect(data.filter(({ name }) => name === 'Same').map(({ id }) => id)).toEqual([low, high])
})

test('leaves out inactive brands and those of other organizations', async () => {
  const org = await organization(db)
  const { key } = await exportKey(db, org)
  const shown = await brand(db, org)
  const hidden = await brand(db, org, { active: false })
  await brand(db, await organization(db))
  const ids = async () => (await call('/brands', { key })).data.map(({ id }) => id)
  expect(await ids()).toEqual([shown])
  await db.query('update brands set active = not active where id = any($1)', [[shown, hidden]])
  expect(await ids()).toEqual([hidden])
})

test('lists for a brand-limited key its active brands alone', async () => {
  const org = await organization(db)
  const listed = await brand(db, org)
  const inactive = await brand(db, org, { active: false })
  await brand(db, org)
  const foreign = await brand(db, await organization(db))
  const limited = await exportKey(db, org, { brand_ids: [listed, inactive, foreign, randomUUID()] })
  const none = await exportKey(db, org, { brand_ids: [] })
  expect((await call('/brands', { key: limited.key })).data.map(({ id }) => id)).toEqual([listed])
  expect((await call('/brands', { key: none.key })).text).toBe('{"data":[]}')
})

test('takes no parameters and lists more than a page of brands in one response', async () => {
  const org = await organization(db)
  const { key } = await exportKey(db, org)
  await db.query(
    `insert into brands (organization_id, name, display_name, url, site_url)
     select $1, 'Brand ' || n, 'Brand', 'brand.example', 'https://brand.example' from generate_series(1, 1001) as n`,
    [org.id],
  )
  const { data, text } = await call('/brands', {
    key,
    query: { brandId: 'nonsense', fromDate: 'nonsense', cursor: 'nonsense' },
  })
  expect(data).toHaveLength(1001)
  expect(Object.keys(JSON.parse(text))).toEqual(['data'])
})
