import { randomUUID } from 'node:crypto'
import { describe, expect, inject, test } from 'vitest'
import { digestOf } from '../../site/reference/digest.ts'
import { call, pull, type Row } from '../fixtures/call.ts'
import { findEndpoints } from '../fixtures/endpoints.ts'
import { metricColumns } from '../fixtures/metric-columns.ts'
import { type Random, seededRandom } from '../fixtures/random.ts'
import { brand, database, insert, place, prompt, refresh } from '../fixtures/rows.ts'
import { rowTexts, type Scene, scene } from '../fixtures/scene.ts'
import { expectedRows } from '../oracle/metrics.ts'

const db = database()
const endpoints = await findEndpoints()

const MENTIONS = ['Acme', 'ACME ', 'acme corp', 'Straße 7', 'STRASSE 7', 'Globex', ' globex\t', 'ΓΑΛΑΞΙΑΣ']
const STRANGE = ['https://q.example/"\\\u0001\n', 'https://😀.example/é', ' https://s.example/ ', '']
const DOMAINS = [null, null, 'a.example', 'Z.example', 'é.example', '～.example', '😀.example']
const CONFIDENCES = ['0', '0.0001', '0.1', '0.3333', '0.5', '0.9999', '1']
const EDGES = ['00:00:00Z', '00:00:00.000001Z', '12:00:00Z', '23:59:59.999Z', '23:59:59.999999Z']

const day = (offset: number): string =>
  new Date(Date.UTC(2026, 8, 17) + offset * 86_400_000).toISOString().slice(0, 10)

const instant = ({ below, pick }: Random, from = 0): string => `${day(from + below(10))}T${pick(EDGES)}`

/** A brand with prompts and competitors of every kind. */
async function company() {
  const here = await scene(db, { name: 'Acme', display_name: 'Acme Corp', aliases: ['Straße 7'] })
  const sister = await brand(db, here.org, { name: 'Globex', aliases: ['acme'] })
  const prompts = [
    here.prompt,
    await prompt(db, here.brandId, { branded: true }),
    await prompt(db, here.brandId, { retired_at: '2026-09-20T00:00:00Z' }),
    await prompt(db, here.brandId, { counts_in_metrics: false }),
    await prompt(db, sister),
  ]
  const places = [{ model: here.model, market: here.market }, await place(db), await place(db)]
  const rivals = [
    await here.rival('Globex', { aliases: ['Acme Corp'] }),
    await here.rival('Acme'),
    await here.rival('Γαλαξίας', { aliases: ['γαλαξιας'] }),
    await here.rival('Never mentioned'),
    await here.rival('Asleep', { active: false, aliases: ['acme'] }),
  ]
  return { ...here, sister, prompts, places, rivals }
}

type Company = Awaited<ReturnType<typeof company>>

async function grow(
  { prompts, places, rivals }: Company,
  roll: Random,
  { count, urls }: { count: number; urls: number },
): Promise<string[]> {
  const { below, pick, chance, some } = roll
  const answers = Array.from({ length: count }, () => {
    const { model, market } = pick(places)
    return {
      id: randomUUID(),
      prompt_id: chance(0.5) ? (prompts[0] ?? '') : pick(prompts),
      model_id: model,
      market_id: market,
      answered_at: instant(roll),
      error: chance(0.1) ? pick(['', 'timeout']) : null,
    }
  })
  const url = () => (chance(0.1) ? pick(STRANGE) : `https://site.example/${below(urls)}`)
  await insert(db, 'answers', answers)
  await insert(
    db,
    'answer_mentions',
    answers.flatMap(({ id }) => some(MENTIONS, 0.15).map((name) => ({ answer_id: id, name }))),
  )
  await insert(
    db,
    'citations',
    answers.flatMap(({ id }) => {
      const cited = Array.from({ length: below(9) }, url)
      const again = cited.filter(() => chance(0.2))
      return [...cited, ...again].map((each) => ({
        answer_id: id,
        url: each,
        domain: pick(DOMAINS),
        owned: chance(0.3),
        recorded_at: instant(roll, 1),
      }))
    }),
  )
  await insert(
    db,
    'sentiment_phrases',
    answers.flatMap(({ id }) =>
      Array.from({ length: chance(0.4) ? below(4) : 0 }, () => ({
        answer_id: id,
        polarity: pick(['positive', 'neutral', 'negative']),
        confidence: pick(CONFIDENCES),
      })),
    ),
  )
  await insert(
    db,
    'recommendations',
    answers.flatMap(({ id }) =>
      some([null, ...rivals], 0.3).map((competitor_id) => ({
        answer_id: id,
        competitor_id,
        recommended: chance(0.5),
      })),
    ),
  )
  return answers.map(({ id }) => id)
}

/** Changes the past at every level. */
async function rewrite(
  { brandId, sister, prompts, places, rivals, model, market }: Company,
  roll: Random,
  answers: readonly string[],
): Promise<void> {
  const few = () => roll.some(answers, 0.05)
  const update = (sql: string, ...values: unknown[]) => db.query(sql, values)
  await update('delete from answers where id = any($1)', few())
  for (const id of few()) await update('update answers set answered_at = $2 where id = $1', id, instant(roll))
  await update(`update answers set error = 'withdrawn' where id = any($1)`, few())
  await update('update answers set error = null where id = any($1)', few())
  await update('update answers set prompt_id = $2 where id = any($1)', few(), prompts[4])
  await update('update answers set prompt_id = $2 where id = any($1)', few(), prompts[0])
  await update('update answers set model_id = $2 where id = any($1)', few(), places[1]?.model)
  await update('update answers set market_id = $2 where id = any($1)', few(), places[2]?.market)
  await update('update citations set owned = not owned where answer_id = any($1)', few())
  await update(`update citations set domain = '~' where answer_id = any($1)`, few())
  await update(
    `update citations set recorded_at = recorded_at + interval '1 day' where answer_id = any($1)`,
    few(),
  )
  await update('delete from citations where answer_id = any($1)', few())
  await update('update sentiment_phrases set confidence = 0.25 where answer_id = any($1)', few())
  await update(`update sentiment_phrases set polarity = 'neutral' where answer_id = any($1)`, few())
  await update('update recommendations set recommended = not recommended where answer_id = any($1)', few())
  await update(`delete from answer_mentions where name = 'Acme' and answer_id = any($1)`, few())
  await update(
    `update answer_mentions set name = 'Initech' where name = 'Globex' and answer_id = any($1)`,
    few(),
  )
  await update('update prompts set retired_at = null where id = $1', prompts[2])
  await update('update prompts set counts_in_metrics = true where id = $1', prompts[3])
  await update(`update prompts set retired_at = '2026-10-01T00:00:00Z' where id = $1`, prompts[1])
  await update(`update brands set aliases = array['Initech'] where id = $1`, brandId)
  await update(`update brands set display_name = 'Galaxy' where id = $1`, sister)
  await update(`update competitors set active = not active where id = any($1)`, [rivals[2], rivals[4]])
  await update(`update competitors set name = 'Renamed "Rival"' where id = $1`, rivals[0])
  await update('delete from competitors where id = $1', rivals[1])
  await insert(db, 'competitors', [{ brand_id: brandId, name: 'initech' }])
  await update(`update models set provider = 'Another' where id = $1`, model)
  await update(`update markets set name = 'Elsewhere' where id = $1`, market)
}

/**
 * What an endpoint sends, over all pages, as text; sorted where the order of URLs is the service's own. Its primary key
 * identifies each row.
 */
async function served({ key }: Scene, brandId: string, path: string): Promise<string[]> {
  const texts: string[] = []
  const keys: string[] = []
  const { primaryKey = [] } = endpoints.find((endpoint) => endpoint.path === path) ?? {}
  let cursor: string | undefined
  do {
    const page = await call(path, {
      key,
      query: { brandId, fromDate: '2026-01-01', toDate: '2026-12-31', cursor },
    })
    expect(page.status).toBe(200)
    expect(rowTexts(page)).toHaveLength(page.data.length)
    texts.push(...rowTexts(page))
    keys.push(...page.data.map((row) => JSON.stringify(primaryKey.map((name) => row[name]))))
    cursor = page.pagination.nextCursor ?? undefined
  } while (cursor !== undefined)
  expect(new Set(keys).size, `keys of ${path}`).toBe(texts.length)
  return path.startsWith('/citation') ? texts.toSorted() : texts
}

async function compare(here: Company): Promise<void> {
  await refresh(db)
  for (const brandId of [here.brandId, here.sister]) {
    const changes = await pull('/changes', { key: here.key, query: { brandId } })
    for (const [path, expected] of Object.entries(await expectedRows(db, brandId))) {
      expect(expected, path).not.toEqual([])
      const sent = await served(here, brandId, path)
      expect(sent, path).toEqual(path.startsWith('/citation') ? expected.toSorted() : expected)
      const rows: Row[] = sent.map((text) => JSON.parse(text))
      for (const { date, endpoint, digest } of changes.filter((each) => `/${each.endpoint}` === path)) {
        const columns = metricColumns(String(endpoint))
        const ofDay = rows.filter((row) => row.date === date)
        expect(digest, `${path} ${date}`).toBe(digestOf(ofDay, columns))
      }
    }
  }
}

describe('every endpoint sends, row for row, what an independent calculation from the raw rows gives', () => {
  test.for([1, 2, 3])('before and after edits of the past (seed %i)', async (seed) => {
    const here = await company()
    await insert(db, 'competitors', [{ brand_id: here.sister, name: 'Acme' }])
    const roll = seededRandom(seed)
    const size = inject('realPostgres') ? { count: 600, urls: 500 } : { count: 300, urls: 300 }
    const answers = await grow(here, roll, size)
    await compare(here)
    await rewrite(here, roll, answers)
    await compare(here)
    const left = here.rivals.filter((id) => id !== here.rivals[1])
    await grow({ ...here, rivals: left }, roll, { count: 50, urls: 20 })
    await compare(here)
  })
})
