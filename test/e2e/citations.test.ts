import { expect, test } from 'vitest'
import { database } from '../fixtures/rows.ts'
import { rowTexts, scene } from '../fixtures/scene.ts'

const db = database()

const url = 'https://site.example/page'

test('has a row for each cited page, owned or earned', async () => {
  const { say, page } = await scene(db)
  await say('2026-10-01T09:00:00Z', {
    citations: [{ url: 'https://acme.example/', domain: 'acme.example', owned: true }],
  })
  await say('2026-10-01T10:00:00Z', {
    citations: [
      { url: 'https://acme.example/', domain: 'acme.example', owned: true },
      { url: 'https://news.example/a', domain: null },
    ],
  })
  const found = rowTexts(await page('/citations', '2026-10-01'))
  expect(found.toSorted()).toEqual([
    '{"date":"2026-10-01","url":"https://acme.example/","domain":"acme.example","is_owned":true,"citations":2}',
    '{"date":"2026-10-01","url":"https://news.example/a","domain":null,"is_owned":false,"citations":1}',
  ])
})

test('dates a citation by when it was recorded, not by its answer', async () => {
  const { say, rows } = await scene(db)
  await say('2026-10-01T09:00:00Z', { citations: [{ url, recordedAt: '2026-10-03T08:00:00Z' }] })
  await say('2026-10-03T09:00:00Z', { citations: [{ url, recordedAt: '2026-10-03T23:59:59.999Z' }] })
  await say('2026-10-03T10:00:00Z', { citations: [{ url, recordedAt: '2026-10-04T00:00:00.000Z' }] })
  expect(await rows('/citations', '2026-09-01', '2026-10-31')).toMatchObject([
    { date: '2026-10-03', citations: 2 },
    { date: '2026-10-04', citations: 1 },
  ])
})

test('counts an answer on each day on which its citation of a URL was recorded', async () => {
  const { say, rows } = await scene(db)
  await say('2026-10-01T09:00:00Z', {
    citations: [
      { url, recordedAt: '2026-10-01T09:00:00Z' },
      { url, recordedAt: '2026-10-02T09:00:00Z', owned: true },
    ],
  })
  expect(await rows('/citations', '2026-10-01', '2026-10-02')).toMatchObject([
    { date: '2026-10-01', citations: 1, is_owned: false },
    { date: '2026-10-02', citations: 1, is_owned: true },
  ])
})

test('decides ownership once per URL and day, and counts an answer that cites a URL twice once', async () => {
  const { say, rows } = await scene(db)
  await say('2026-10-01T09:00:00Z', { citations: [{ url }, { url }] })
  await say('2026-10-01T10:00:00Z', { citations: [{ url, owned: true }] })
  await say('2026-10-01T11:00:00Z', { citations: [{ url }] })
  await say('2026-10-02T09:00:00Z', { citations: [{ url }] })
  expect(await rows('/citations', '2026-10-01', '2026-10-02')).toMatchObject([
    { date: '2026-10-01', is_owned: true, citations: 3 },
    { date: '2026-10-02', is_owned: false, citations: 1 },
  ])
})

test('gives the greatest domain by code point, or null when none is known', async () => {
  const { say, rows } = await scene(db)
  const other = 'https://site.example/other'
  // In UTF-16 order U+FF5E would be greater than the emoji; a locale would put "Z" after "a".
  for (const domain of ['Z.example', 'a.example', null])
    await say('2026-10-01T09:00:00Z', {
      citations: [
        { url, domain },
        { url: other, domain: null },
      ],
    })
  for (const domain of ['～.example', '😀.example'])
    await say('2026-10-02T09:00:00Z', { citations: [{ url, domain }] })
  await say('2026-10-03T09:00:00Z', { citations: ['', null].map((domain) => ({ url, domain })) })
  const found = await rows('/citations', '2026-10-01', '2026-10-03')
  const domainsOf = (page: string) => found.filter((row) => row.url === page).map(({ domain }) => domain)
  expect(domainsOf(url)).toEqual(['a.example', '😀.example', ''])
  expect(domainsOf(other)).toEqual([null])
})
