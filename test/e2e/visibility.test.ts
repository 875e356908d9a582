import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { brand, database, insert, prompt } from '../fixtures/rows.ts'
import { rowTexts, sayMany, scene } from '../fixtures/scene.ts'

const db = database()

test('counts the answers of a date, model and market, and those that mention the brand', async () => {
  const { say, page, model, market } = await scene(db)
  await say('2026-10-01T09:00:00Z', { mentions: ['Acme'] })
  await say('2026-10-01T10:00:00Z', { mentions: ['Globex', 'Initech'] })
  await say('2026-10-01T11:00:00Z', { mentions: ['Acme', 'Globex'] })
  for (const hour of ['12', '13', '14']) await say(`2026-10-01T${hour}:00:00Z`)
  const answer = await page('/visibility', '2026-10-01')
  expect(rowTexts(answer)).toEqual([
    `{"date":"2026-10-01","model_id":"${model}","provider":"A provider","market_id":"${market}",` +
      '"market":"A market","total_prompts":6,"visible_count":2,"visibility_rate":33.3333}',
  ])
})

test('writes rates with four decimals, whole ones too, and rounds half away from zero', async () => {
  const here = await scene(db)
  await here.say('2026-10-01T09:00:00Z', { mentions: ['Acme'] })
  await here.say('2026-10-02T09:00:00Z', { mentions: ['Globex'] })
  // 1 / 128 = 0.78125 %, 5 / 128 = 3.90625 %: half to even would give 0.7812 and 3.9062.
  await sayMany(db, here, { at: '2026-10-03T09:00:00Z', count: 128, name: 'Acme', mentioning: 1 })
  await sayMany(db, here, { at: '2026-10-04T09:00:00Z', count: 128, name: 'Acme', mentioning: 5 })
  // 2 / 3 = 66.66666… %
  await sayMany(db, here, { at: '2026-10-05T09:00:00Z', count: 3, name: 'Acme', mentioning: 2 })
  const { text } = await here.page('/visibility', '2026-10-01', '2026-10-05')
  const rates = Array.from(text.matchAll(/"visibility_rate":([^}]*)/g), ([, rate]) => rate)
  expect(rates).toEqual(['100.0000', '0.0000', '0.7813', '3.9063', '66.6667'])
})

test('cuts days at midnight UTC', async () => {
  const { say, rows } = await scene(db)
  await say('2026-10-01T23:59:59.999Z', { mentions: ['Acme'] })
  await say('2026-10-01T23:59:59.999999Z')
  await say('2026-10-02T00:00:00.000Z')
  expect(await rows('/visibility', '2026-10-01', '2026-10-02')).toMatchObject([
    { date: '2026-10-01', total_prompts: 2, visible_count: 1 },
    { date: '2026-10-02', total_prompts: 1, visible_count: 0 },
  ])
})

test('has a row for each model and market, in code point order of model_id, then by market_id', async () => {
  const { say, rows } = await scene(db)
  const prefix = randomUUID()
  // In UTF-16 order the emoji would come before U+FF5E; a locale would put "a" before "Z".
  const models = ['Z', 'a', 'é', '～', '😀'].map((letter) => `${prefix}-${letter}`)
  const markets = [`${'f'.repeat(8)}${randomUUID().slice(8)}`, `00000000${randomUUID().slice(8)}`]
  await insert(
    db,
    'models',
    models.map((id) => ({ id, provider: `Provider of ${id}` })),
  )
  await insert(
    db,
    'markets',
    markets.map((id) => ({ id, name: `Market ${id}` })),
  )
  for (const model of models.toReversed())
    for (const market of markets) await say('2026-10-01T09:00:00Z', { model, market })
  expect(
    (await rows('/visibility', '2026-10-01')).map(({ model_id, market_id }) => [model_id, market_id]),
  ).toEqual(models.flatMap((model) => markets.toReversed().map((market) => [model, market])))
})

test('counts no answer of another brand', async () => {
  const here = await scene(db)
  const other = await prompt(db, await brand(db, here.org))
  await here.say('2026-10-01T09:00:00Z', { prompt: other })
  expect(await here.rows('/visibility', '2026-10-01')).toEqual([])
  await here.say('2026-10-01T10:00:00Z')
  expect(await here.rows('/visibility', '2026-10-01')).toMatchObject([{ total_prompts: 1 }])
})

describe('an answer mentions the brand', () => {
  const brands = { name: 'Acme', display_name: 'Acme Corporation', aliases: ['ACM', 'The A-Team'] }
  // Case and spaces in every script: test/e2e/sql/fold.test.ts.
  test.for([
    ['its name', brands, 'Acme', 1],
    ['its name in another case, with spaces around', brands, '  aCME \t\n', 1],
    ['its display name', brands, 'ACME corporation', 1],
    ['an alias', brands, ' the a-team ', 1],
    ['a name that has spaces around in the table', { ...brands, name: ' Ajax  ' }, 'ajax', 1],
    ['a name that only contains its name', brands, 'Acme Incorporated', 0],
    ['its name without a letter v at an end', { ...brands, name: 'Nerv' }, 'Ner', 0],
    ['a pattern', brands, 'A%', 0],
    ['an empty name', brands, ' ', 0],
  ] as const)('by %s, or not', async ([, values, name, visible_count]) => {
    const { say, rows } = await scene(db, values)
    await say('2026-10-01T09:00:00Z', { mentions: [name] })
    expect(await rows('/visibility', '2026-10-01')).toMatchObject([{ total_prompts: 1, visible_count }])
  })

  test('once, however many of its names it contains', async () => {
    const { say, rows } = await scene(db, brands)
    await say('2026-10-01T09:00:00Z', { mentions: ['Acme', 'ACME', 'ACM', 'Acme Corporation', 'Globex'] })
    expect(await rows('/visibility', '2026-10-01')).toMatchObject([{ total_prompts: 1, visible_count: 1 }])
  })
})
