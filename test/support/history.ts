import fc from 'fast-check'
import pg from 'pg'
import { refreshAll } from '../../drizzle/db/refresh.ts'
import { tableOf } from './schema.ts'
import { differences } from './verify.ts'

/** One thing that happens; numbers choose rows and values, and each kind takes what it needs. */
export type Step = { readonly kind: string; readonly aside: boolean; readonly n: readonly number[] }

/** Who acts: one that commits at once, and on a server beside it one that leaves its transactions open for a while. */
export type Actors = { readonly first: pg.Client; readonly second: pg.Client | undefined }

const id = (space: number, n: number): string =>
  `${String(space).padStart(8, '0')}-0000-4000-8000-${String(n).padStart(12, '0')}`

const at = (list: readonly string[], n: number): string => list[n % list.length] ?? ''

const TIMES = ['00:00:00Z', '11:30:00Z', '23:59:59.999Z']
const instant = (n: number): string => `2026-09-${20 + (n % 4)}T${at(TIMES, n)}`
const NAMES = ['Acme', 'Globex', 'ACME ', 'Initech']
const brandOf = (n: number) => id(1, n % 2)
const promptOf = (n: number) => id(2, n % 4)
const answerOf = (n: number) => id(3, n % 6)
const rivalOf = (n: number) => id(4, n % 4)
const marketOf = (n: number) => id(5, n % 2)
const modelOf = (n: number) => `model-${n % 2}`
const nameOf = (n: number) => at(NAMES, n)

type Statement = readonly [sql: string, ...values: unknown[]]

/** What may happen to raw rows. Rows that do not exist are passed over. */
const CHANGES: Readonly<Record<string, (a: number, b: number, c: number, d: number) => Statement>> = {
  addAnswer: (a, b, c, d) => [
    `insert into answers (id, prompt_id, model_id, market_id, answered_at, error)
     select $1, $2, $3, $4, $5, $6 where exists (select from prompts where id = $2) on conflict do nothing`,
    answerOf(a),
    promptOf(b),
    modelOf(c),
    marketOf(d),
    instant(a + b),
    c % 5 === 4 ? 'timeout' : null,
  ],
  addAnswers: (a, b, c) => [
    `insert into answers (id, prompt_id, model_id, market_id, answered_at)
     select ('00000003-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, $1, $2, $3, $4::timestamptz + n * interval '7 hours'
     from generate_series(0, 5) as n where exists (select from prompts where id = $1) on conflict do nothing`,
    promptOf(a),
    modelOf(b),
    marketOf(c),
    instant(a),
  ],
  addCitation: (a, b, c, d) => [
    `insert into citations (id, answer_id, url, domain, owned, recorded_at)
     select $1, $2, $3, $4, $5, $6 where exists (select from answers where id = $2) on conflict do nothing`,
    id(6, a),
    answerOf(b),
    `https://site.example/${c % 2}`,
    d % 3 === 0 ? null : `${d % 3}.example`,
    d % 2 === 0,
    instant(c),
  ],
  addMention: (a, b) => [
    `insert into answer_mentions (answer_id, name)
     select $1, $2 where exists (select from answers where id = $1) on conflict do nothing`,
    answerOf(a),
    nameOf(b),
  ],
  addPhrase: (a, b, c) => [
    `insert into sentiment_phrases (id, answer_id, polarity, confidence)
     select $1, $2, $3, $4 where exists (select from answers where id = $2) on conflict do nothing`,
    id(7, a),
    answerOf(b),
    at(['positive', 'neutral', 'negative'], c),
    (c % 11) / 10,
  ],
  judge: (a, b, c) => [
    `insert into recommendations (answer_id, competitor_id, recommended)
     select $1, $2, $3 where exists (select from answers where id = $1)
       and ($2::uuid is null or exists (select from competitors where id = $2))
     on conflict (answer_id, competitor_id) do update set recommended = excluded.recommended`,
    answerOf(a),
    b % 3 === 0 ? null : rivalOf(b),
    c % 2 === 0,
  ],
  addCompetitor: (a, b, c) => [
    `insert into competitors (id, brand_id, name, aliases, active)
     select $1, $2, $3, $4, $5 where exists (select from brands where id = $2) on conflict do nothing`,
    rivalOf(a),
    brandOf(b),
    nameOf(c),
    [nameOf(a)],
    c % 3 !== 0,
  ],
  addPrompt: (a, b) => [
    'insert into prompts (id, brand_id, text) select $1, $2, $3 where exists (select from brands where id = $2) on conflict do nothing',
    promptOf(a),
    brandOf(b),
    'Which is best?',
  ],
  moveAnswer: (a, b) => ['update answers set answered_at = $2 where id = $1', answerOf(a), instant(b)],
  moveAnswers: (a, b) => [
    `update answers set answered_at = answered_at + $2 * interval '1 day' where prompt_id = $1`,
    promptOf(a),
    (b % 3) - 1,
  ],
  failAnswer: (a, b) => ['update answers set error = $2 where id = $1', answerOf(a), b % 2 ? 'gone' : null],
  askAnswer: (a, b) => [
    'update answers set prompt_id = $2 where id = $1 and exists (select from prompts where id = $2)',
    answerOf(a),
    promptOf(b),
  ],
  placeAnswer: (a, b) => [
    'update answers set model_id = $2, market_id = $3 where id = $1',
    answerOf(a),
    modelOf(b),
    marketOf(b + 1),
  ],
  recordAgain: (a, b) => ['update citations set recorded_at = $2 where id = $1', id(6, a), instant(b)],
  own: (a) => ['update citations set owned = not owned where url = $1', `https://site.example/${a % 2}`],
  correct: (a, b) => [
    'update citations set url = $2, domain = $3 where id = $1',
    id(6, a),
    `https://site.example/${b % 3}`,
    b % 2 ? null : 'new.example',
  ],
  citeElsewhere: (a, b) => [
    'update citations set answer_id = $2 where id = $1 and exists (select from answers where id = $2)',
    id(6, a),
    answerOf(b),
  ],
  mentionElsewhere: (a, b) => [
    `update answer_mentions set answer_id = $2 where answer_id = $1 and exists (select from answers where id = $2)
     and not exists (select from answer_mentions as m where m.answer_id = $2)`,
    answerOf(a),
    answerOf(b),
  ],
  renameMention: (a, b) => [
    `update answer_mentions set name = $2 where answer_id = $1 and name = $3`,
    answerOf(a),
    nameOf(b),
    nameOf(b + 1),
  ],
  weighAgain: (a, b) => [
    'update sentiment_phrases set polarity = $2, confidence = $3 where id = $1',
    id(7, a),
    at(['positive', 'neutral', 'negative'], b),
    (b % 7) / 10,
  ],
  judgeAgain: (a) => [
    'update recommendations set recommended = not recommended where answer_id = $1',
    answerOf(a),
  ],
  dropAnswer: (a) => ['delete from answers where id = $1', answerOf(a)],
  dropDay: (a) => [
    `delete from answers where (answered_at at time zone 'UTC')::date = $1`,
    instant(a).slice(0, 10),
  ],
  dropCitation: (a) => ['delete from citations where id = $1', id(6, a)],
  dropMentions: (a) => ['delete from answer_mentions where answer_id = $1', answerOf(a)],
  dropPhrases: (a) => ['delete from sentiment_phrases where answer_id = $1', answerOf(a)],
  dropJudgements: (a) => ['delete from recommendations where answer_id = $1', answerOf(a)],
  dropPrompt: (a) => ['delete from prompts where id = $1', promptOf(a)],
  dropCompetitor: (a) => ['delete from competitors where id = $1', rivalOf(a)],
  dropBrand: (a, b) => [
    'delete from brands where id = $1 and $2',
    brandOf(a),
    // Seldom: little happens to a brand that is gone.
    b % 4 === 0,
  ],
  retire: (a) => ['update prompts set retired_at = now() where id = $1', promptOf(a)],
  bringBack: (a) => ['update prompts set retired_at = null where id = $1', promptOf(a)],
  count: (a) => ['update prompts set counts_in_metrics = not counts_in_metrics where id = $1', promptOf(a)],
  movePrompt: (a, b) => [
    'update prompts set brand_id = $2 where id = $1 and exists (select from brands where id = $2)',
    promptOf(a),
    brandOf(b),
  ],
  renameBrand: (a, b) => [
    'update brands set name = $2, display_name = $3 where id = $1',
    brandOf(a),
    nameOf(b),
    nameOf(b + a),
  ],
  aliasBrand: (a, b) => ['update brands set aliases = $2 where id = $1', brandOf(a), [nameOf(b)]],
  renameCompetitor: (a, b) => [
    `update competitors set name = $2, aliases = $3 where id = $1
     and not exists (select from competitors as c where c.brand_id = competitors.brand_id and c.name = $2)`,
    rivalOf(a),
    `${nameOf(b)} ${a % 2}`,
    [nameOf(a)],
  ],
  activate: (a) => ['update competitors set active = not active where id = $1', rivalOf(a)],
  moveCompetitor: (a, b) => [
    `update competitors set brand_id = $2 where id = $1 and exists (select from brands where id = $2)
     and not exists (select from competitors as c where c.brand_id = $2 and c.name = competitors.name)`,
    rivalOf(a),
    brandOf(b),
  ],
  renameMarket: (a, b) => ['update markets set name = $2 where id = $1', marketOf(a), nameOf(b)],
  sellModel: (a, b) => ['update models set provider = $2 where id = $1', modelOf(a), nameOf(b)],
  truncate: (a) => [
    `truncate ${tableOf(at(['answer_mentions', 'citations', 'sentiment_phrases', 'recommendations', 'answers'], a))} cascade`,
  ],
}

/** What may happen between changes. */
const PASSAGES: Readonly<Record<string, (actors: Actors, a: number, b: number) => Promise<unknown>>> = {
  refresh: ({ first }, a, b) => first.query('select daily.refresh($1, $2)', [1 + (a % 2), 1 + (b % 3)]),
  refreshInVain: async ({ first }, a, b) => {
    await first.query('begin')
    await first.query('select daily.refresh($1, $2)', [1 + (a % 2), 1 + (b % 3)])
    await first.query('rollback')
  },
  refreshToTheEnd: ({ first }) => refreshAll(first),
  refreshTwiceAtOnce: async ({ first, second }) => {
    await second?.query('commit')
    await Promise.all([refreshAll(first), second && refreshAll(second)])
  },
  commit: async ({ second }) => second?.query('commit'),
  rollback: async ({ second }) => second?.query('rollback'),
}

/** Deletes all rows and empties the queue. */
export const CLEARANCE = `
  truncate ${['organizations', 'models', 'markets'].map(tableOf)} cascade;
  truncate daily.refresh_queue, daily.visibility, daily.competitors, daily.citations, daily.citation_share,
    daily.sentiment, daily.recommended_rate`

/** Rows to begin with, so that most steps find something. */
const BEGINNING = `
  insert into organizations (id, name) values ('${id(9, 0)}', 'An organization');
  insert into models (id, provider) values ('model-0', 'A provider'), ('model-1', 'A provider');
  insert into markets (id, name) values ('${id(5, 0)}', 'A market'), ('${id(5, 1)}', 'A market');
  insert into brands (id, organization_id, name, display_name, url, site_url)
    select ('00000001-0000-4000-8000-00000000000' || n)::uuid, '${id(9, 0)}', 'Acme', 'Globex', '', ''
    from generate_series(0, 1) as n;
  insert into prompts (id, brand_id, text)
    select ('00000002-0000-4000-8000-00000000000' || n)::uuid,
      ('00000001-0000-4000-8000-00000000000' || n % 2)::uuid, 'Which?' from generate_series(0, 2) as n;
  insert into competitors (id, brand_id, name)
    select ('00000004-0000-4000-8000-00000000000' || n)::uuid,
      ('00000001-0000-4000-8000-00000000000' || n % 2)::uuid, 'Globex' from generate_series(0, 1) as n;
  insert into answers (id, prompt_id, model_id, market_id, answered_at)
    select ('00000003-0000-4000-8000-00000000000' || n)::uuid,
      ('00000002-0000-4000-8000-00000000000' || n % 3)::uuid, 'model-' || n % 2, '${id(5, 0)}',
      timestamptz '2026-09-21 00:00Z' + n * interval '11 hours' from generate_series(0, 4) as n;
  insert into answer_mentions (answer_id, name) select id, 'Acme' from answers;
  insert into recommendations (answer_id, recommended) select id, true from answers;
  insert into sentiment_phrases (answer_id, polarity, confidence) select id, 'positive', 0.5 from answers;
  insert into citations (id, answer_id, url, owned, recorded_at)
    select ('00000006-0000-4000-8000-00000000000' || right(id::text, 1))::uuid, id, 'https://site.example/0', false,
      answered_at + interval '1 day' from answers`

/** Histories of up to 30 steps, each of a few kinds of change: what goes wrong takes some that meet, not all at once. */
export const histories = (): fc.Arbitrary<Step[]> =>
  fc.subarray(Object.keys(CHANGES), { minLength: 2, maxLength: 4 }).chain((kinds) =>
    fc.array(
      fc.record({
        kind: fc.oneof(
          { weight: 5, arbitrary: fc.constantFrom(...kinds) },
          { weight: 1, arbitrary: fc.constantFrom('addAnswers', 'addCitation', 'movePrompt') },
          { weight: 1, arbitrary: fc.constantFrom(...Object.keys(PASSAGES)) },
        ),
        aside: fc.boolean(),
        n: fc.tuple(fc.nat(11), fc.nat(11), fc.nat(11), fc.nat(11)),
      }),
      { minLength: 5, maxLength: 30 },
    ),
  )

/** Plays a history from the beginning, brings the daily tables up to date, and says where they differ from the views. */
export async function play({ first, second }: Actors, steps: readonly Step[]): Promise<unknown[]> {
  // A history that failed may have left something open.
  await second?.query('rollback')
  await first.query('rollback; reset lock_timeout')
  await first.query(`${CLEARANCE}; ${BEGINNING}`)
  await refreshAll(first)
  // Whoever runs into the other's open transaction gives up: nobody would come to commit it.
  if (second) await first.query(`set lock_timeout = '10ms'`)
  for (const { kind, aside, n } of steps) {
    const [a = 0, b = 0, c = 0, d = 0] = n
    const change = CHANGES[kind]
    const passage = PASSAGES[kind]
    if (passage) await passedOver(first, () => passage({ first, second }, a, b))
    if (change) {
      const [sql, ...values] = change(a, b, c, d)
      if (second && aside) await passedOver(second, () => inTransaction(second, sql, values))
      else await passedOver(first, () => first.query(sql, values))
    }
  }
  await second?.query('commit')
  await first.query('reset lock_timeout')
  await refreshDayByDay(first)
  return differences(first)
}

/** Brings the daily tables up to date, one brand and day at a time: larger steps also compute days between the queued ones. */
export async function refreshDayByDay(db: pg.ClientBase | pg.Pool): Promise<void> {
  for (let processed = 1; processed > 0; ) {
    const { rows } = await db.query<{ processed: number }>('select daily.refresh(1, 1) as processed')
    processed = rows[0]?.processed ?? 0
  }
}

async function inTransaction(client: pg.Client, sql: string, values: unknown[]): Promise<void> {
  // Within a transaction that is open this is only a warning.
  await client.query('begin')
  await client.query(sql, values)
}

/** What a lock, a deadlock or a row gone meanwhile refuses is as if it had not been tried. */
const REFUSALS = new Set(['55P03', '40P01', '40001', '23503', '23505'])

async function passedOver(client: pg.Client, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && REFUSALS.has(error.code ?? ''))) throw error
    await client.query('rollback')
  }
}
