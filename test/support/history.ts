import fc from 'fast-check'
import pg from 'pg'
import { refreshAll } from '../../drizzle/db/refresh.ts'
import { tableOf } from './schema.ts'
import { differences } from './verify.ts'

/** One thing that happens; numbers choose rows and values, and each kind takes what it needs. */
export type Step = { readonly kind: string; readonly aside: boolean; readonly n: readonly number[] }

/** Who acts: one that commits at once, and on a server also one that leaves its transactions open for a while. */
export type Actors = { readonly first: pg.Client; readonly second: pg.Client | undefined }

const uuid = (space: number, n: number): string =>
  `${String(space).padStart(8, '0')}-0000-4000-8000-${String(n).padStart(12, '0')}`

// Literals of SQL: numbers choose among few rows and values, so that steps meet.
const quoted = (text: string): string => `'${text}'`
const oneOf = (list: readonly string[], n: number): string => quoted(list[n % list.length] ?? '')
const id = (space: number, n: number): string => quoted(uuid(space, n))
const brand = (n: number) => id(1, n % 2)
const prompt = (n: number) => id(2, n % 4)
const answer = (n: number) => id(3, n % 6)
const competitor = (n: number) => id(4, n % 4)
const market = (n: number) => id(5, n % 2)
const citation = (n: number) => id(6, n)
const phrase = (n: number) => id(7, n)
const model = (n: number) => quoted(`model-${n % 2}`)
const name = (n: number) => oneOf(['Acme', 'Globex', 'ACME ', 'Initech'], n)
const polarity = (n: number) => oneOf(['positive', 'neutral', 'negative'], n)
const day = (n: number) => `2026-09-${20 + (n % 4)}`
const instant = (n: number) => quoted(`${day(n)}T${['00:00:00Z', '11:30:00Z', '23:59:59.999Z'][n % 3]}`)
const exists = (table: string, key: string) => `exists (select from ${table} where id = ${key})`

type Change = (a: number, b: number, c: number, d: number) => string

/** What may happen to raw rows. Rows that do not exist are passed over. */
const CHANGES: Readonly<Record<string, Change>> = {
  addAnswer: (a, b, c, d) =>
    `insert into answers (id, prompt_id, model_id, market_id, answered_at, error)
     select ${answer(a)}, ${prompt(b)}, ${model(c)}, ${market(d)}, ${instant(a + b)}, ${c % 5 === 4 ? "'timeout'" : 'null'}
     where ${exists('prompts', prompt(b))} on conflict do nothing`,
  addAnswers: (a, b, c) =>
    `insert into answers (id, prompt_id, model_id, market_id, answered_at)
     select ('00000003-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, ${prompt(a)}, ${model(b)}, ${market(c)},
       ${instant(a)}::timestamptz + n * interval '7 hours'
     from generate_series(0, 5) as n where ${exists('prompts', prompt(a))} on conflict do nothing`,
  addCitation: (a, b, c, d) =>
    `insert into citations (id, answer_id, url, domain, owned, recorded_at)
     select ${citation(a)}, ${answer(b)}, 'https://site.example/${c % 2}',
       ${d % 3 === 0 ? 'null' : quoted(`${d % 3}.example`)}, ${d % 2 === 0}, ${instant(c)}
     where ${exists('answers', answer(b))} on conflict do nothing`,
  addMention: (a, b) =>
    `insert into answer_mentions (answer_id, name)
     select ${answer(a)}, ${name(b)} where ${exists('answers', answer(a))} on conflict do nothing`,
  addPhrase: (a, b, c) =>
    `insert into sentiment_phrases (id, answer_id, polarity, confidence)
     select ${phrase(a)}, ${answer(b)}, ${polarity(c)}, ${(c % 11) / 10}
     where ${exists('answers', answer(b))} on conflict do nothing`,
  judge: (a, b, c) => {
    const judged = b % 3 === 0 ? 'null' : competitor(b)
    return `insert into recommendations (answer_id, competitor_id, recommended)
     select ${answer(a)}, ${judged}, ${c % 2 === 0}
     where ${exists('answers', answer(a))} and (${judged} is null or ${exists('competitors', judged)})
     on conflict (answer_id, competitor_id) do update set recommended = excluded.recommended`
  },
  addCompetitor: (a, b, c) =>
    `insert into competitors (id, brand_id, name, aliases, active)
     select ${competitor(a)}, ${brand(b)}, ${name(c)}, array[${name(a)}], ${c % 3 !== 0}
     where ${exists('brands', brand(b))} on conflict do nothing`,
  addPrompt: (a, b) =>
    `insert into prompts (id, brand_id, text) select ${prompt(a)}, ${brand(b)}, 'Which is best?'
     where ${exists('brands', brand(b))} on conflict do nothing`,
  moveAnswer: (a, b) => `update answers set answered_at = ${instant(b)} where id = ${answer(a)}`,
  moveAnswers: (a, b) =>
    `update answers set answered_at = answered_at + ${(b % 3) - 1} * interval '1 day' where prompt_id = ${prompt(a)}`,
  failAnswer: (a, b) => `update answers set error = ${b % 2 ? "'gone'" : 'null'} where id = ${answer(a)}`,
  askAnswer: (a, b) =>
    `update answers set prompt_id = ${prompt(b)} where id = ${answer(a)} and ${exists('prompts', prompt(b))}`,
  placeAnswer: (a, b) =>
    `update answers set model_id = ${model(b)}, market_id = ${market(b + 1)} where id = ${answer(a)}`,
  recordAgain: (a, b) => `update citations set recorded_at = ${instant(b)} where id = ${citation(a)}`,
  own: (a) => `update citations set owned = not owned where url = 'https://site.example/${a % 2}'`,
  correct: (a, b) =>
    `update citations set url = 'https://site.example/${b % 3}', domain = ${b % 2 ? 'null' : "'new.example'"}
     where id = ${citation(a)}`,
  citeElsewhere: (a, b) =>
    `update citations set answer_id = ${answer(b)} where id = ${citation(a)} and ${exists('answers', answer(b))}`,
  mentionElsewhere: (a, b) =>
    `update answer_mentions set answer_id = ${answer(b)} where answer_id = ${answer(a)}
     and ${exists('answers', answer(b))}
     and not exists (select from answer_mentions as other where other.answer_id = ${answer(b)})`,
  renameMention: (a, b) =>
    `update answer_mentions set name = ${name(b)} where answer_id = ${answer(a)} and name = ${name(b + 1)}`,
  weighAgain: (a, b) =>
    `update sentiment_phrases set polarity = ${polarity(b)}, confidence = ${(b % 7) / 10} where id = ${phrase(a)}`,
  judgeAgain: (a) =>
    `update recommendations set recommended = not recommended where answer_id = ${answer(a)}`,
  dropAnswer: (a) => `delete from answers where id = ${answer(a)}`,
  dropDay: (a) => `delete from answers where (answered_at at time zone 'UTC')::date = '${day(a)}'`,
  dropCitation: (a) => `delete from citations where id = ${citation(a)}`,
  dropMentions: (a) => `delete from answer_mentions where answer_id = ${answer(a)}`,
  dropPhrases: (a) => `delete from sentiment_phrases where answer_id = ${answer(a)}`,
  dropJudgements: (a) => `delete from recommendations where answer_id = ${answer(a)}`,
  dropPrompt: (a) => `delete from prompts where id = ${prompt(a)}`,
  dropCompetitor: (a) => `delete from competitors where id = ${competitor(a)}`,
  // Seldom: little happens to a brand that is gone.
  dropBrand: (a, b) => `delete from brands where id = ${brand(a)} and ${b % 4 === 0}`,
  retire: (a) => `update prompts set retired_at = now() where id = ${prompt(a)}`,
  bringBack: (a) => `update prompts set retired_at = null where id = ${prompt(a)}`,
  count: (a) => `update prompts set counts_in_metrics = not counts_in_metrics where id = ${prompt(a)}`,
  movePrompt: (a, b) =>
    `update prompts set brand_id = ${brand(b)} where id = ${prompt(a)} and ${exists('brands', brand(b))}`,
  renameBrand: (a, b) =>
    `update brands set name = ${name(b)}, display_name = ${name(b + a)} where id = ${brand(a)}`,
  aliasBrand: (a, b) => `update brands set aliases = array[${name(b)}] where id = ${brand(a)}`,
  renameCompetitor: (a, b) => {
    const renamed = name(b).replace(/'$/, ` ${a % 2}'`)
    return `update competitors set name = ${renamed}, aliases = array[${name(a)}] where id = ${competitor(a)}
     and not exists (select from competitors as c where c.brand_id = competitors.brand_id and c.name = ${renamed})`
  },
  activate: (a) => `update competitors set active = not active where id = ${competitor(a)}`,
  moveCompetitor: (a, b) =>
    `update competitors set brand_id = ${brand(b)} where id = ${competitor(a)} and ${exists('brands', brand(b))}
     and not exists (select from competitors as c where c.brand_id = ${brand(b)} and c.name = competitors.name)`,
  renameMarket: (a, b) => `update markets set name = ${name(b)} where id = ${market(a)}`,
  sellModel: (a, b) => `update models set provider = ${name(b)} where id = ${model(a)}`,
  truncate: (a) => {
    const tables = ['answer_mentions', 'citations', 'sentiment_phrases', 'recommendations', 'answers']
    return `truncate ${tableOf(tables[a % tables.length] ?? '')} cascade`
  },
}

/** What may happen between changes. */
const PASSAGES: Readonly<Record<string, (actors: Actors, a: number, b: number) => Promise<unknown>>> = {
  refresh: ({ first }, a, b) => refreshSome(first, a, b),
  refreshInVain: async ({ first }, a, b) => {
    await first.query('begin')
    await refreshSome(first, a, b)
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

/** Gives one brand its turn. */
const refreshSome = (client: pg.Client, a: number, b: number) =>
  client.query(`select daily.refresh(${brand(a)}, clock_timestamp(), '0 s', ${1 + (b % 3)})`)

/** Deletes all rows and empties the queue. */
export const CLEARANCE = `
  truncate ${['organizations', 'models', 'markets'].map(tableOf)} cascade;
  truncate daily.refresh_queue, daily.rechecks, daily.visibility, daily.competitors, daily.citations, daily.citation_share,
    daily.sentiment, daily.recommended_rate, daily.changes`

/** Rows to begin with, so that most steps find something. */
const BEGINNING = `
  insert into organizations (id, name) values (${id(9, 0)}, 'An organization');
  insert into models (id, provider) values ('model-0', 'A provider'), ('model-1', 'A provider');
  insert into markets (id, name) values (${id(5, 0)}, 'A market'), (${id(5, 1)}, 'A market');
  insert into brands (id, organization_id, name, display_name, url, site_url)
    select ('00000001-0000-4000-8000-00000000000' || n)::uuid, ${id(9, 0)}, 'Acme', 'Globex', '', ''
    from generate_series(0, 1) as n;
  insert into prompts (id, brand_id, text)
    select ('00000002-0000-4000-8000-00000000000' || n)::uuid,
      ('00000001-0000-4000-8000-00000000000' || n % 2)::uuid, 'Which?' from generate_series(0, 2) as n;
  insert into competitors (id, brand_id, name)
    select ('00000004-0000-4000-8000-00000000000' || n)::uuid,
      ('00000001-0000-4000-8000-00000000000' || n % 2)::uuid, 'Globex' from generate_series(0, 1) as n;
  insert into answers (id, prompt_id, model_id, market_id, answered_at)
    select ('00000003-0000-4000-8000-00000000000' || n)::uuid,
      ('00000002-0000-4000-8000-00000000000' || n % 3)::uuid, 'model-' || n % 2, ${id(5, 0)},
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
  // A client that meets the other's open transaction gives up: no one would commit it.
  if (second) await first.query(`set lock_timeout = '10ms'`)
  for (const { kind, aside, n } of steps) {
    const [a = 0, b = 0, c = 0, d = 0] = n
    const change = CHANGES[kind]
    const passage = PASSAGES[kind]
    if (passage) await passedOver(first, () => passage({ first, second }, a, b))
    if (change) {
      const sql = change(a, b, c, d)
      if (second && aside) await passedOver(second, () => inTransaction(second, sql))
      else await passedOver(first, () => first.query(sql))
    }
  }
  await second?.query('commit')
  await first.query('reset lock_timeout')
  await refreshAll(first)
  return differences(first)
}

async function inTransaction(client: pg.Client, sql: string): Promise<void> {
  // Within a transaction that is open this is only a warning.
  await client.query('begin')
  await client.query(sql)
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
