import { tableOf } from '../fixtures/schema.ts'

export const uuid = (space: number, n: number): string =>
  `${String(space).padStart(8, '0')}-0000-4000-8000-${String(n).padStart(12, '0')}`

// Literals of SQL: numbers choose among few rows and values, so that steps meet.
const quoted = (text: string): string => `'${text}'`
const oneOf = (list: readonly string[], n: number): string => quoted(list[n % list.length] ?? '')
export const id = (space: number, n: number): string => quoted(uuid(space, n))
export const brand = (n: number) => id(1, n % 2)
export const prompt = (n: number) => id(2, n % 4)
export const answer = (n: number) => id(3, n % 6)
const competitor = (n: number) => id(4, n % 4)
export const market = (n: number) => id(5, n % 2)
const citation = (n: number) => id(6, n)
const phrase = (n: number) => id(7, n)
export const model = (n: number) => quoted(`model-${n % 2}`)
const name = (n: number) => oneOf(['Acme', 'Globex', 'ACME ', 'Initech'], n)
const polarity = (n: number) => oneOf(['positive', 'neutral', 'negative'], n)
const day = (n: number) => `2026-09-${20 + (n % 4)}`
const instant = (n: number) => quoted(`${day(n)}T${['00:00:00Z', '11:30:00Z', '23:59:59.999Z'][n % 3]}`)
const exists = (table: string, key: string) => `exists (select from ${table} where id = ${key})`

export type Change = (a: number, b: number, c: number, d: number) => string

/** What may happen to raw rows. Rows that do not exist are passed over. */
export const CHANGES: Readonly<Record<string, Change>> = {
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
  bringBrandBack: (a) =>
    `insert into brands (id, organization_id, name, display_name, url, site_url)
     values (${brand(a)}, ${id(9, 0)}, 'Acme', 'Acme', '', '') on conflict do nothing`,
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

/** What may also happen where foreign keys are not checked, or only at the end: rows without the rows that they refer to. */
export const UNCHECKED_CHANGES: Readonly<Record<string, Change>> = {
  addAnswerFirst: (a, b, c, d) =>
    `insert into answers (id, prompt_id, model_id, market_id, answered_at)
     values (${answer(a)}, ${prompt(b)}, ${model(c)}, ${market(d)}, ${instant(a + b)}) on conflict do nothing`,
  addCitationFirst: (a, b, c) =>
    `insert into citations (id, answer_id, url, owned, recorded_at)
     values (${citation(a)}, ${answer(b)}, 'https://site.example/${c % 2}', true, ${instant(c)}) on conflict do nothing`,
  addMentionFirst: (a, b) =>
    `insert into answer_mentions (answer_id, name) values (${answer(a)}, ${name(b)}) on conflict do nothing`,
  addPromptFirst: (a, b) =>
    `insert into prompts (id, brand_id, text) values (${prompt(a)}, ${brand(b)}, 'Which?') on conflict do nothing`,
  addAllFromBelow: (a, b, c, d) =>
    [
      UNCHECKED_CHANGES.addCitationFirst?.(d, a, c, d),
      UNCHECKED_CHANGES.addMentionFirst?.(a, d, c, d),
      UNCHECKED_CHANGES.addAnswerFirst?.(a, b, c, d),
      UNCHECKED_CHANGES.addPromptFirst?.(b, c, c, d),
      CHANGES.bringBrandBack?.(c, b, c, d),
    ].join(';'),
  dropModel: (a) => `delete from models where id = ${model(a)}`,
  bringModelBack: (a, b) =>
    `insert into models (id, provider) values (${model(a)}, ${name(b)}) on conflict do nothing`,
  dropMarket: (a) => `delete from markets where id = ${market(a)}`,
  bringMarketBack: (a, b) =>
    `insert into markets (id, name) values (${market(a)}, ${name(b)}) on conflict do nothing`,
  renumberAnswer: (a, b) =>
    `update answers set id = ${answer(b)} where id = ${answer(a)} and not ${exists('answers', answer(b))}`,
  renumberPrompt: (a, b) =>
    `update prompts set id = ${prompt(b)} where id = ${prompt(a)} and not ${exists('prompts', prompt(b))}`,
  // Writes all phrases, of which some are equal, and moves one.
  movePhrase: (a, b) =>
    `update sentiment_phrases set answer_id = case when id = ${phrase(a)} then ${answer(b)} else answer_id end`,
  dropAnswerWithParts: (a) =>
    `with cited as (delete from citations where answer_id = ${answer(a)}),
       mentioned as (delete from answer_mentions where answer_id = ${answer(a)})
     delete from answers where id = ${answer(a)}`,
}
