import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { type Answer, call, pull, type Row } from './call.ts'
import {
  answer,
  brand,
  exportKey,
  insert,
  type Organization,
  organization,
  place,
  prompt,
  refresh,
  type Said,
  type Values,
} from './world.ts'

/** Returns the day that many days later. */
export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10)

/** A brand in an organization of its own, with what it takes to give it answers and to read it. */
export type Scene = {
  readonly org: Organization
  readonly key: string
  readonly brandId: string
  readonly prompt: string
  readonly model: string
  readonly market: string
  /** Adds an answer to the scene's prompt, model and market, or to others; returns its id. */
  readonly say: (at: string, said?: Partial<Said>) => Promise<string>
  /** Adds a competitor; returns its id. */
  readonly rival: (name: string, values?: Values) => Promise<string>
  /** Brings the daily tables up to date and reads a window, as its first page. */
  readonly page: (path: string, fromDate: string, toDate?: string) => Promise<Answer>
  /** Brings the daily tables up to date and reads all rows of a window. */
  readonly rows: (path: string, fromDate: string, toDate?: string) => Promise<Row[]>
}

/** Sets up a {@link Scene}; `values` are the brand's columns. */
export async function scene(db: pg.Pool, values: Values = {}): Promise<Scene> {
  const org = await organization(db)
  const { key } = await exportKey(db, org)
  const brandId = await brand(db, org, values)
  const home = { prompt: await prompt(db, brandId), ...(await place(db)) }
  const query = (fromDate: string, toDate = fromDate) => ({ key, query: { brandId, fromDate, toDate } })
  return {
    org,
    key,
    brandId,
    ...home,
    say: (at, said = {}) => answer(db, { ...home, at, ...said }),
    rival: async (name, rest = {}) => {
      const id = randomUUID()
      await insert(db, 'competitors', [{ id, brand_id: brandId, name, ...rest }])
      return id
    },
    page: async (path, fromDate, toDate) => {
      await refresh(db)
      return call(path, query(fromDate, toDate))
    },
    rows: async (path, fromDate, toDate) => {
      await refresh(db)
      return pull(path, query(fromDate, toDate))
    },
  }
}

/** Sets up a scene with an answer at the start of each of some days, which gives every metric rows. */
export async function answeredDays(
  db: pg.Pool,
  { first, days }: { first: string; days: number },
): Promise<Scene> {
  const its = await scene(db)
  const competitor = await its.rival('Rival')
  for (let day = 0; day < days; day += 1) {
    await its.say(`${addDays(first, day)}T00:00:00Z`, {
      mentions: ['Acme', 'Rival'],
      citations: [{ url: 'https://site.example/', domain: null }],
      phrases: [{ polarity: 'positive', confidence: '0.1001' }],
      judged: [
        { competitor: null, recommended: true },
        { competitor, recommended: false },
      ],
    })
  }
  await refresh(db)
  return its
}

/** The rows of an answer's `data` as the text in which they were sent. */
export const rowTexts = ({ text }: Answer): string[] => text.match(/\{"date":.*?\}(?=[,\]])/g) ?? []

/** Adds many answers of one day in few statements; the first `mentioning` of them name `name`. */
export async function sayMany(
  db: pg.Pool,
  { prompt: prompt_id, model: model_id, market: market_id }: Pick<Said, 'prompt' | 'model' | 'market'>,
  { at, count, name, mentioning }: { at: string; count: number; name: string; mentioning: number },
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID())
  await insert(
    db,
    'answers',
    ids.map((id) => ({ id, prompt_id, model_id, market_id, answered_at: at })),
  )
  await insert(
    db,
    'answer_mentions',
    ids.slice(0, mentioning).map((answer_id) => ({ answer_id, name })),
  )
  return ids
}
