import { expect, test } from 'vitest'
import { database, place } from '../fixtures/rows.ts'
import { rowTexts, scene } from '../fixtures/scene.ts'

const db = database()

const phrase = (polarity: string, confidence: string) => ({ polarity, confidence })

test('counts phrases by polarity and weighs them by confidence', async () => {
  const { say, page } = await scene(db)
  await say('2026-10-01T09:00:00Z', {
    phrases: [phrase('positive', '0.9'), phrase('positive', '0.75'), phrase('negative', '0.5')],
  })
  await say('2026-10-01T10:00:00Z', { phrases: [phrase('neutral', '1'), phrase('negative', '0.0501')] })
  // 1.65 / (1.65 + 0.5501) = 74.99659… %
  expect(rowTexts(await page('/sentiment', '2026-10-01'))).toEqual([
    '{"date":"2026-10-01","positive_mentions":2,"neutral_mentions":1,"negative_mentions":2,' +
      '"positive_weight":1.6500,"negative_weight":0.5501,"sentiment_score":74.9966}',
  ])
})

test('has no score when no positive or negative phrase has weight', async () => {
  const { say, page } = await scene(db)
  await say('2026-10-01T09:00:00Z', { phrases: [phrase('neutral', '0.9'), phrase('neutral', '0.8')] })
  await say('2026-10-02T09:00:00Z', { phrases: [phrase('positive', '0'), phrase('negative', '0')] })
  const weightless = '"positive_weight":0.0000,"negative_weight":0.0000,"sentiment_score":null}'
  expect(rowTexts(await page('/sentiment', '2026-10-01', '2026-10-02'))).toEqual([
    `{"date":"2026-10-01","positive_mentions":0,"neutral_mentions":2,"negative_mentions":0,${weightless}`,
    `{"date":"2026-10-02","positive_mentions":1,"neutral_mentions":0,"negative_mentions":1,${weightless}`,
  ])
})

test('has no row on a day without phrases', async () => {
  const { say, rows } = await scene(db)
  await say('2026-10-01T09:00:00Z', { phrases: [phrase('neutral', '1')] })
  await say('2026-10-02T09:00:00Z', { mentions: ['Acme'] })
  await say('2026-10-03T09:00:00Z', { phrases: [phrase('neutral', '1')] })
  expect((await rows('/sentiment', '2026-10-01', '2026-10-03')).map((row) => row.date)).toEqual([
    '2026-10-01',
    '2026-10-03',
  ])
})

test('adds weights up exactly', async () => {
  const { say, page } = await scene(db)
  const phrases = [
    ...Array.from({ length: 10 }, () => phrase('positive', '0.1')),
    phrase('positive', '0.0001'),
    ...Array.from({ length: 3 }, () => phrase('negative', '0.1')),
    ...Array.from({ length: 3 }, () => phrase('negative', '0.0001')),
  ]
  await say('2026-10-01T09:00:00Z', { phrases })
  // 1.0001 / 1.3004 = 76.9071… %
  const { text } = await page('/sentiment', '2026-10-01')
  expect(text).toContain(
    '"positive_mentions":11,"neutral_mentions":0,"negative_mentions":6,' +
      '"positive_weight":1.0001,"negative_weight":0.3003,"sentiment_score":76.9071}',
  )
})

test('rounds the score half away from zero', async () => {
  const { say, page } = await scene(db)
  // 0.0001 / 0.0128 = 0.78125 %; 0.0127 / 0.0128 = 99.21875 %: half to even would give 0.7812 and 99.2188.
  await say('2026-10-01T09:00:00Z', { phrases: [phrase('positive', '0.0001'), phrase('negative', '0.0127')] })
  await say('2026-10-02T09:00:00Z', { phrases: [phrase('positive', '0.0127'), phrase('negative', '0.0001')] })
  const { text } = await page('/sentiment', '2026-10-01', '2026-10-03')
  expect(text.match(/"sentiment_score":[^}]*/g)).toEqual([
    '"sentiment_score":0.7813',
    '"sentiment_score":99.2188',
  ])
})

test('counts the phrases of all markets, on the day of the answer', async () => {
  const { say, rows } = await scene(db)
  const phrases = [phrase('positive', '0.5')]
  await say('2026-10-01T23:59:59.999Z', { phrases })
  await say('2026-10-02T00:00:00.000Z', { phrases })
  await say('2026-10-02T00:00:00.000Z', { phrases, ...(await place(db)) })
  expect(await rows('/sentiment', '2026-10-01', '2026-10-02')).toMatchObject([
    { date: '2026-10-01', positive_mentions: 1, positive_weight: 0.5 },
    { date: '2026-10-02', positive_mentions: 2, positive_weight: 1 },
  ])
})
