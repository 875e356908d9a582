import { expect, test } from 'vitest'
import { brand, database, insert, place } from '../fixtures/rows.ts'
import { rowTexts, scene } from '../fixtures/scene.ts'

const db = database()

test('counts the answers that name the competitor, among all answers of the date', async () => {
  const { say, rival, page } = await scene(db)
  await rival('Globex')
  await say('2026-10-01T09:00:00Z', { mentions: ['Globex', 'Acme'] })
  await say('2026-10-01T10:00:00Z', { mentions: ['Acme'] })
  await say('2026-10-01T11:00:00Z', { mentions: ['globex '] })
  expect(rowTexts(await page('/competitors', '2026-10-01'))).toEqual([
    '{"date":"2026-10-01","competitor_name":"Globex","total_responses":3,' +
      '"competitor_visible_responses":2,"competitor_visibility_rate":66.6667}',
  ])
})

test('has a row with 0 for a competitor that no answer mentions, on each date with counted answers', async () => {
  const { say, rival, page } = await scene(db)
  await rival('Globex')
  await say('2026-10-01T09:00:00Z')
  await say('2026-10-02T09:00:00Z', { error: 'timeout', mentions: ['Globex'] })
  await say('2026-10-06T09:00:00Z')
  const zero =
    '"competitor_name":"Globex","total_responses":1,"competitor_visible_responses":0,"competitor_visibility_rate":0.0000}'
  expect(rowTexts(await page('/competitors', '2026-10-01', '2026-10-06'))).toEqual([
    `{"date":"2026-10-01",${zero}`,
    `{"date":"2026-10-06",${zero}`,
  ])
})

test('considers the answers of all models and markets, as many as the total prompts of the date', async () => {
  const { say, rival, rows } = await scene(db)
  await rival('Globex')
  const elsewhere = await place(db)
  await say('2026-10-01T09:00:00Z', { mentions: ['Globex'] })
  await say('2026-10-01T10:00:00Z', { ...elsewhere, mentions: ['Globex'] })
  await say('2026-10-01T23:59:59.999Z', elsewhere)
  await say('2026-10-02T00:00:00.000Z', elsewhere)
  expect(await rows('/competitors', '2026-10-01', '2026-10-02')).toMatchObject([
    { date: '2026-10-01', total_responses: 3, competitor_visible_responses: 2 },
    { date: '2026-10-02', total_responses: 1, competitor_visible_responses: 0 },
  ])
  expect(await rows('/visibility', '2026-10-01')).toSatisfy(
    (found: { total_prompts: number }[]) =>
      found.length === 2 && found.reduce((sum, { total_prompts }) => sum + total_prompts, 0) === 3,
  )
})

// Case and spaces: test/e2e/visibility.test.ts.
test.for([
  ['by an alias', 'the globe', 1],
  ['but not by a name that only contains its own', 'Globex Europe', 0],
  ['but not by the name of the brand', 'Acme', 0],
] as const)('counts a competitor as mentioned %s', async ([, name, visible]) => {
  const { say, rival, rows } = await scene(db)
  await rival('Globex', { aliases: ['The Globe'] })
  await say('2026-10-01T09:00:00Z', { mentions: [name] })
  expect(await rows('/competitors', '2026-10-01')).toMatchObject([{ competitor_visible_responses: visible }])
})

test('lets a name be shared by two competitors and by the brand', async () => {
  const { say, rival, rows } = await scene(db)
  await rival('Globex', { aliases: ['Together'] })
  await rival('Initech', { aliases: ['TOGETHER', 'Acme'] })
  await say('2026-10-01T09:00:00Z', { mentions: ['together'] })
  await say('2026-10-01T10:00:00Z', { mentions: ['acme'] })
  expect(await rows('/competitors', '2026-10-01')).toMatchObject([
    { competitor_name: 'Globex', competitor_visible_responses: 1 },
    { competitor_name: 'Initech', competitor_visible_responses: 2 },
  ])
  expect(await rows('/visibility', '2026-10-01')).toMatchObject([{ visible_count: 1 }])
})

test('has no row for an inactive competitor, on no date, until it is active again', async () => {
  const { say, rival, rows } = await scene(db)
  const id = await rival('Globex', { active: false })
  await say('2026-01-01T09:00:00Z', { mentions: ['Globex'] })
  await say('2026-10-01T09:00:00Z')
  expect(await rows('/competitors', '2026-01-01', '2026-12-31')).toEqual([])
  await db.query('update competitors set active = true where id = $1', [id])
  expect(await rows('/competitors', '2026-01-01', '2026-12-31')).toMatchObject([
    { date: '2026-01-01', competitor_visible_responses: 1 },
    { date: '2026-10-01', competitor_visible_responses: 0 },
  ])
})

test('has no row for the competitor of another brand', async () => {
  const { org, say, rows } = await scene(db)
  const other = await brand(db, org)
  await insert(db, 'competitors', [{ brand_id: other, name: 'Globex' }])
  await say('2026-10-01T09:00:00Z', { mentions: ['Globex'] })
  expect(await rows('/competitors', '2026-10-01')).toEqual([])
})
