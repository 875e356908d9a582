import { createHash, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { database } from '../fixtures/rows.ts'
import { rowTexts, scene } from '../fixtures/scene.ts'

const db = database()

const url = 'https://site.example/page'

test('has a row per date and URL, with its owned citations', async () => {
  const { say, page } = await scene(db)
  await say('2026-10-01T09:00:00Z', { citations: [{ url, owned: true }] })
  await say('2026-10-01T10:00:00Z', { citations: [{ url, owned: true }] })
  await say('2026-10-02T10:00:00Z', { citations: [{ url, domain: null }] })
  expect(rowTexts(await page('/citation-share', '2026-10-01', '2026-10-02'))).toEqual([
    `{"date":"2026-10-01","url":"${url}","domain":"site.example","is_owned":true,"citations":2,"owned_citations":2}`,
    `{"date":"2026-10-02","url":"${url}","domain":null,"is_owned":false,"citations":1,"owned_citations":0}`,
  ])
})

test('dates a citation by its answer, not by when it was recorded', async () => {
  const { say, rows } = await scene(db)
  await say('2026-10-01T23:59:59.999Z', { citations: [{ url, recordedAt: '2026-10-03T08:00:00Z' }] })
  await say('2026-10-02T00:00:00.000Z', { citations: [{ url, recordedAt: '2026-10-04T08:00:00Z' }] })
  expect(await rows('/citation-share', '2026-09-01', '2026-10-31')).toMatchObject([
    { date: '2026-10-01', citations: 1 },
    { date: '2026-10-02', citations: 1 },
  ])
})

test('counts fewer owned citations than citations when the domain became owned during the day', async () => {
  const { say, rows } = await scene(db)
  for (const hour of ['08', '09', '10']) await say(`2026-10-01T${hour}:00:00Z`, { citations: [{ url }] })
  for (const hour of ['12', '13'])
    await say(`2026-10-01T${hour}:00:00Z`, { citations: [{ url, owned: true }] })
  expect(await rows('/citation-share', '2026-10-01')).toMatchObject([
    { is_owned: true, citations: 5, owned_citations: 2 },
  ])
})

test('counts an answer that cites a URL twice once, as owned when either was', async () => {
  const { say, rows } = await scene(db)
  await say('2026-10-01T09:00:00Z', { citations: [{ url }, { url, owned: true }] })
  const owned = { url, owned: true }
  await say('2026-10-02T09:00:00Z', { citations: [owned, owned] })
  expect(await rows('/citation-share', '2026-10-01', '2026-10-02')).toMatchObject([
    { citations: 1, owned_citations: 1, is_owned: true },
    { citations: 1, owned_citations: 1, is_owned: true },
  ])
})

test.for([
  '/citations',
  '/citation-share',
])('%s serves URLs of 8,192 random bytes, and distinguishes those that are alike', async (path) => {
  const { say, rows } = await scene(db)
  // 64 random symbols carry 6 bits a byte, more than any index entry can be compressed to.
  const long = `https://site.example/${randomBytes(6200).toString('base64url')}`.slice(0, 8191)
  // A collision of MD5 that Marc Stevens published in 2024.
  const [one = '', other = ''] = ['A', 'E'].map(
    (letter) => `TEXTCOLLBYfGiJUETHQ4h${letter}cKSMd5zYpgqf1YRDhkmxHkhPWptrkoyz28wnI9V0aHeAuaKnak`,
  )
  const [md5, same] = [one, other].map((each) => createHash('md5').update(each).digest('hex'))
  expect(md5).toBe(same)
  const once = [
    `${long}a`,
    one,
    other,
    '',
    ' https://a.example/ ',
    'https://a.example/',
    'HTTPS://a.example/',
  ]
  const twice = { url: `${long}b`, owned: true }
  await say('2026-10-01T09:00:00Z', { citations: [...once.map((each) => ({ url: each })), twice] })
  await say('2026-10-01T10:00:00Z', { citations: [twice] })
  const found = await rows(path, '2026-10-01')
  expect(new Map(found.map((row) => [row.url, row.citations]))).toEqual(
    new Map([...once.map((each) => [each, 1] as const), [twice.url, 2]]),
  )
  expect(found).toHaveLength(8)
})
