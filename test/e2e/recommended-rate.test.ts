import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { brand, database, insert } from '../fixtures/rows.ts'
import { rowTexts, scene } from '../fixtures/scene.ts'

const db = database()

const judged = (competitor: string | null, recommended: boolean) => ({ competitor, recommended })

test('gives the rate of recommended among judged answers, of the brand and of each competitor', async () => {
  const { say, rival, page } = await scene(db)
  const globex = await rival('Globex')
  await say('2026-10-01T09:00:00Z', { judged: [judged(null, true), judged(globex, false)] })
  await say('2026-10-01T10:00:00Z', { judged: [judged(null, true)] })
  await say('2026-10-01T11:00:00Z', { judged: [judged(null, false)] })
  await say('2026-10-01T12:00:00Z')
  expect(rowTexts(await page('/recommended-rate', '2026-10-01'))).toEqual([
    '{"date":"2026-10-01","entity_name":"Acme","is_brand":true,"recommended_rate":66.6667,"judged_answers":3}',
    '{"date":"2026-10-01","entity_name":"Globex","is_brand":false,"recommended_rate":0.0000,"judged_answers":1}',
  ])
})

test('has no row before 2026-09-22, whatever is stored', async () => {
  const { say, rival, rows } = await scene(db)
  const globex = await rival('Globex')
  const both = { judged: [judged(null, true), judged(globex, true)] }
  await say('2025-10-01T09:00:00Z', both)
  await say('2026-09-21T23:59:59.999Z', both)
  expect(await rows('/recommended-rate', '2025-01-01', '2026-12-31')).toEqual([])
  await say('2026-09-22T00:00:00.000Z', both)
  expect(await rows('/recommended-rate', '2025-01-01', '2026-12-31')).toMatchObject([
    { date: '2026-09-22', entity_name: 'Acme', judged_answers: 1 },
    { date: '2026-09-22', entity_name: 'Globex', judged_answers: 1 },
  ])
})

test('puts the brand first on each date, then competitors by code point', async () => {
  const { say, rival, rows } = await scene(db, { name: 'zebra' })
  // In UTF-16 order the emoji would come before U+FF5E; a locale would put "apex" before "Zenith".
  const names = ['2 Good', 'Zenith', 'apex', 'Éclat', '～', '😀']
  const ids = []
  for (const name of names.toReversed()) ids.push(await rival(name))
  const all = [...ids.map((id) => judged(id, false)), judged(null, true)]
  await say('2026-10-02T09:00:00Z', { judged: all })
  await say('2026-10-01T09:00:00Z', { judged: all })
  expect(
    (await rows('/recommended-rate', '2026-10-01', '2026-10-02')).map((row) => [
      row.date,
      row.entity_name,
      row.is_brand,
    ]),
  ).toEqual(
    ['2026-10-01', '2026-10-02'].flatMap((date) => [
      [date, 'zebra', true],
      ...names.map((name) => [date, name, false]),
    ]),
  )
})

test('has no row for an entity without a judged answer', async () => {
  const { say, rival, rows } = await scene(db)
  const globex = await rival('Globex')
  await rival('Initech')
  await say('2026-10-01T09:00:00Z', { mentions: ['Acme', 'Initech'], judged: [judged(globex, true)] })
  await say('2026-10-02T09:00:00Z', { judged: [judged(null, false)] })
  await say('2026-10-03T09:00:00Z', { mentions: ['Acme'] })
  expect(
    (await rows('/recommended-rate', '2026-10-01', '2026-10-03')).map((row) => [row.date, row.entity_name]),
  ).toEqual([
    ['2026-10-01', 'Globex'],
    ['2026-10-02', 'Acme'],
  ])
})

test('distinguishes a competitor of the same name from the brand', async () => {
  const { say, rival, rows } = await scene(db)
  const twin = await rival('Acme')
  await say('2026-10-01T09:00:00Z', { judged: [judged(null, true), judged(twin, false)] })
  expect(await rows('/recommended-rate', '2026-10-01')).toMatchObject([
    { entity_name: 'Acme', is_brand: true, recommended_rate: 100 },
    { entity_name: 'Acme', is_brand: false, recommended_rate: 0 },
  ])
})

test('has the rows of active competitors only, whenever they were judged', async () => {
  const { say, rival, rows } = await scene(db)
  const globex = await rival('Globex')
  await say('2026-10-01T09:00:00Z', { judged: [judged(null, true), judged(globex, true)] })
  const set = (active: boolean) =>
    db.query('update competitors set active = $2 where id = $1', [globex, active])
  const names = async () => (await rows('/recommended-rate', '2026-10-01')).map((row) => row.entity_name)
  await set(false)
  expect(await names()).toEqual(['Acme'])
  await set(true)
  expect(await names()).toEqual(['Acme', 'Globex'])
})

test('has no row for the competitor of another brand', async () => {
  const { org, say, rows } = await scene(db)
  const stranger = randomUUID()
  await insert(db, 'competitors', [{ id: stranger, brand_id: await brand(db, org), name: 'Stranger' }])
  await say('2026-10-01T09:00:00Z', { judged: [judged(stranger, true)] })
  expect(await rows('/recommended-rate', '2026-10-01')).toEqual([])
})
