import { beforeEach, expect, test } from 'vitest'
import { logAll } from '../../../drizzle/db/refresh.ts'
import { relistAll } from '../../../drizzle/db/relist.ts'
import { isolatedPool } from '../../fixtures/isolated-database.ts'
import { insert, refresh } from '../../fixtures/rows.ts'
import { sample } from '../../fixtures/sample.ts'
import { tableOf } from '../../fixtures/schema.ts'
import { CLEARANCE } from '../../interleavings/histories.ts'

const { db } = await isolatedPool()

/** For each endpoint with later changes, the kinds whose time is later, and whether the greatest is `changed_at`. */
async function since(last: string): Promise<Record<string, string[]>> {
  const { rows } = await db.query<{ endpoint: string; kinds: string[]; latest: string; changed_at: string }>(
    `select endpoint, array_agg(kind order by kind) filter (where at > $1) as kinds, max(at) as latest, changed_at
     from daily.changes cross join json_each_text(causes) as cause (kind, at)
     where changed_at > $1 group by brand_id, endpoint, date, changed_at`,
    [last],
  )
  for (const { latest, changed_at } of rows) expect(latest).toBe(changed_at)
  return Object.fromEntries(rows.map(({ endpoint, kinds }) => [endpoint, kinds]))
}

const lastStamp = async (): Promise<string> =>
  (await db.query('select max(changed_at) as last from daily.changes')).rows[0].last

beforeEach(() => db.query(CLEARANCE))

const EVERY = ['citation-share', 'citations', 'competitors', 'recommended-rate', 'sentiment', 'visibility']

const allOf = (...kinds: string[]) => Object.fromEntries(EVERY.map((endpoint) => [endpoint, kinds]))

test.each<[string, string, Record<string, string[]>]>([
  [
    'an answer that failed after all',
    `update answers set error = 'timeout' where id = $answer`,
    allOf('answers'),
  ],
  ['a mention', `insert into answer_mentions values ($answer, 'Initech')`, { competitors: ['mentions'] }],
  [
    'a citation of the day',
    `insert into citations (answer_id, url, owned, recorded_at) values ($answer, 'b', true, '2026-10-01')`,
    { citations: ['citations'], 'citation-share': ['citations'] },
  ],
  [
    'a phrase',
    `insert into sentiment_phrases (answer_id, polarity, confidence) values ($answer, 'negative', 0.1)`,
    { sentiment: ['sentiment'] },
  ],
  [
    'a judgement',
    'update recommendations set recommended = false where answer_id = $answer',
    { 'recommended-rate': ['recommendations'] },
  ],
  ['a retired prompt', 'update prompts set retired_at = now() where id = $prompt', allOf('prompts')],
  [
    "a brand's names",
    `update brands set name = 'X', display_name = 'X' where id = $brand`,
    { visibility: ['brands'], 'recommended-rate': ['brands'] },
  ],
  [
    "a competitor's alias",
    `update competitors set aliases = '{globex}' where id = $competitor`,
    { competitors: ['competitors'] },
  ],
  ["a model's provider", `update models set provider = 'X' where id = $model`, { visibility: ['models'] }],
  ["a market's name", `update markets set name = 'X' where id = $market`, { visibility: ['markets'] }],
  ['a truncated table', `truncate ${tableOf('sentiment_phrases')}`, { sentiment: ['recomputed'] }],
])('%s is the cause of the days that it changed', async (_, edit, expected) => {
  const { answer, brand, newcomer, said } = await sample(db)
  const ids = { answer, brand, competitor: newcomer, ...said }
  const before = await lastStamp()
  await db.query(edit.replace(/\$(\w+)/g, (_, name) => `'${Reflect.get(ids, name)}'`))
  await refresh(db)
  expect(await since(before)).toEqual(expected)
})

test('a later change keeps the kinds of earlier ones, with their times', async () => {
  const { answer, said } = await sample(db)
  const first = await lastStamp()
  await insert(db, 'sentiment_phrases', [{ answer_id: answer, polarity: 'negative', confidence: '0.1' }])
  await refresh(db)
  const second = await lastStamp()
  await db.query('update prompts set retired_at = now() where id = $1', [said.prompt])
  await refresh(db)
  expect((await since(first)).sentiment).toEqual(['prompts', 'sentiment'])
  expect((await since(second)).sentiment).toEqual(['prompts'])
  expect((await since('')).sentiment).toEqual(['answers', 'prompts', 'sentiment'])
})

test('a change that leaves the rows as they were is no cause of a later one', async () => {
  const { answer, newcomer } = await sample(db)
  const before = await lastStamp()
  await db.query(`update competitors set aliases = '{nobody}' where id = $1`, [newcomer])
  await refresh(db)
  expect(await since(before)).toEqual({})
  await insert(db, 'answer_mentions', [{ answer_id: answer, name: 'Initech' }])
  await refresh(db)
  expect(await since(before)).toEqual({ competitors: ['mentions'] })
})

test('a day that cannot be computed keeps the causes of all that reached it meanwhile', async () => {
  const { answer, said } = await sample(db)
  const before = await lastStamp()
  await db.query('alter table daily.sentiment add constraint failing check (negative_mentions = 0) not valid')
  try {
    await insert(db, 'sentiment_phrases', [{ answer_id: answer, polarity: 'negative', confidence: '0.1' }])
    await expect(refresh(db)).rejects.toThrow('sentiment')
    await db.query('update prompts set counts_in_metrics = not counts_in_metrics where id = $1', [
      said.prompt,
    ])
    await db.query('update prompts set counts_in_metrics = not counts_in_metrics where id = $1', [
      said.prompt,
    ])
    await expect(refresh(db)).rejects.toThrow('sentiment')
    expect(await since(before)).toEqual({})
  } finally {
    await db.query('alter table daily.sentiment drop constraint failing')
  }
  await refresh(db)
  expect(await since(before)).toEqual({ sentiment: ['prompts', 'sentiment'] })
})

test('a change that a computation saw before a batch had it gets the time of that computation', async () => {
  const { answer, said } = await sample(db)
  const before = await lastStamp()
  await db.query('update prompts set counts_in_metrics = false where id = $1', [said.prompt])
  await db.query('select daily.resolve()')
  await db.query('update prompts set counts_in_metrics = true where id = $1', [said.prompt])
  await insert(db, 'sentiment_phrases', [{ answer_id: answer, polarity: 'negative', confidence: '0.1' }])
  // Sees the phrase, and does not know of it.
  await db.query(`select daily.refresh(null, '1 min', 30)`)
  expect(await since(before)).toEqual({ sentiment: ['prompts'] })
  const listed = await lastStamp()
  await refresh(db)
  expect(await lastStamp()).toBe(listed)
  expect(await since(before)).toEqual({ sentiment: ['prompts', 'sentiment'] })
})

test('a batch that follows a computation waits with its causes', async () => {
  const { answer, said } = await sample(db)
  const before = await lastStamp()
  await db.query('update prompts set retired_at = now() where id = $1', [said.prompt])
  await refresh(db)
  await insert(db, 'sentiment_phrases', [{ answer_id: answer, polarity: 'negative', confidence: '0.1' }])
  await db.query('select daily.resolve()')
  expect(await since(before)).toEqual(allOf('prompts'))
})

test('rows that are computed again without a known change are recomputed, listed ones relisted', async () => {
  const { brand } = await sample(db)
  const before = await lastStamp()
  const client = await db.connect()
  await db.query('update daily.visibility set total_prompts = 7 where brand_id = $1', [brand])
  await logAll(client)
  await refresh(db)
  expect(await since(before)).toEqual({ visibility: ['recomputed'] })
  const recomputed = await lastStamp()
  await relistAll(client)
  client.release()
  expect(await since(recomputed)).toEqual(allOf('relisted'))
})
