import type { Plan } from '../../lib/access/plans.ts'
import { ERRORS } from '../../lib/request/errors.ts'
import { damagePage } from './damage-page.ts'
import { daysBefore, fixedId } from './organization.ts'
import type { Fault } from './proxy.ts'

/** What happens before a run of the command, and what the run has to do. */
export type Step = {
  readonly promise: string
  /** Statements that change the service's data. */
  readonly sql?: string
  readonly faults?: readonly Fault[]
  /** What happens during the run. */
  readonly event?: Event
  /** Whether the run may end with an exit code other than 0. Then a run follows without faults and event. */
  readonly mayEnd?: boolean
  /** The most requests that the run may send. */
  readonly most?: number
  /** A text in the output of a run that has to end with an exit code other than 0. */
  readonly stops?: string
}

/** What happens before a page of rows is sent, counted from 1: the loader is killed, or the service changes. */
export type Event = {
  readonly page: number
  /** Statements that change the service, and those that undo them for the next loader. */
  readonly change?: { readonly sql: string; readonly undo: string }
}

/** What a run of a loader costs that reads the days of each metric: `/brands`, and `/days` of six. */
const MOST_REQUESTS = 7

const later: Fault = { status: 429, retryAfter: 1 }
const away: Fault = { status: 503, retryAfter: 1 }
/** Connections that break before and within a response. */
const broken: readonly Fault[] = ['dropped', 'dropped', null, 'cut', null, 'cut']
const forbidden: Fault = { ofRows: { status: ERRORS.plan.status, error: ERRORS.plan.message } }
const damaged: Fault = {
  ofRows: { rewrite: async (body, status) => (status === 200 ? damagePage(body) : body) },
}

/** Three of ten responses. */
const DAMAGED: readonly Fault[] = [null, damaged, null, null, damaged, null, null, damaged, null, null]

const setPlan = (plan: Plan): string =>
  `update subscriptions set plan = '${plan}' where organization_id = '${fixedId('organization')}'`

const setActive = (isActive: boolean): string =>
  `update brands set active = ${isActive} where id = '${fixedId('brand', 1)}'`

/** Limits all keys to the first brand, or removes the limit. */
const setBrands = (isLimited: boolean): string =>
  `update api_keys set brand_ids = ${isLimited ? `array['${fixedId('brand', 0)}'::uuid]` : 'null'}`

/** Renames the first brand, and a competitor of the second. */
const rename = (name: string): string => `
  update competitors set name = '${name}', aliases = array[name] where id = '${fixedId('rival', 1, 0)}';
  update brands set name = '${name}', aliases = array[name] where id = '${fixedId('brand', 0)}'`

/** A day that is larger than a page of days, 4 MB. */
const LARGE_DAY = 15
const LARGE_URLS = 600

/** Returns the steps of a service's life, in their order. */
export function life(today: string): readonly Step[] {
  const noon = (age: number): string => `'${daysBefore(today, age)}T12:00:00Z'`
  const ofDay = (age: number) => `where answered_at = ${noon(age)} and prompt_id = '${fixedId('prompt', 0)}'`
  /** Adds an answer to each brand, which changes a day of all metrics. */
  const answer = (age: number): string => `
    with answer as (
      insert into answers (prompt_id, model_id, market_id, answered_at)
      select prompts.id, 'certify-model', '${fixedId('market', 0)}', ${noon(age)} from prompts
      returning *
    ), mention as (
      insert into answer_mentions select id, 'Acme' from answer
    ), phrase as (
      insert into sentiment_phrases (answer_id, polarity, confidence) select id, 'negative', 0.0001 from answer
    ), recommendation as (
      insert into recommendations (answer_id, recommended) select id, true from answer
    )
    insert into citations (answer_id, url, owned, recorded_at)
    select id, 'https://late.example/', true, answered_at from answer;`

  const between = fixedId('citation', 'between')

  return [
    { promise: 'Every row is loaded, once.' },
    {
      promise: `A run without changes sends at most ${MOST_REQUESTS} requests and leaves the copy as it is.`,
      most: MOST_REQUESTS,
    },
    {
      promise: 'A day is replaced whole: late rows arrive, and rows that vanish go.',
      sql: `${answer(97)} delete from citations using answers ${ofDay(12)} and answers.id = answer_id
        and url like '%n=1&%'`,
    },
    {
      promise: 'A day in parts is whole, though it changes between two of them.',
      sql: `insert into citations (answer_id, url, owned, recorded_at)
        select id, 'https://late.example/' || number || repeat('.', 8000), false, answered_at
        from (select * from answers ${ofDay(LARGE_DAY)} limit 1) as answer, generate_series(1, ${LARGE_URLS}) as number`,
      event: {
        page: 2,
        change: {
          sql: `insert into citations (id, answer_id, url, owned, recorded_at)
            select '${between}', id, 'https://late.example/', false, answered_at
            from answers ${ofDay(LARGE_DAY)} limit 1`,
          undo: `delete from citations where id = '${between}'`,
        },
      },
      mayEnd: true,
    },
    { promise: 'A day that has emptied disappears.', sql: `delete from answers ${ofDay(LARGE_DAY)}` },
    {
      promise: 'A rename arrives on all days, though the run is killed: the next one goes on.',
      sql: rename('Renamed'),
      event: { page: 3 },
      mayEnd: true,
    },
    {
      promise: 'A run waits as Retry-After of a 429 says, and goes on.',
      sql: answer(14),
      faults: [later, later, later, null, later, null, later, later],
    },
    {
      promise: 'A run outlasts 503, connections that break, and bodies that are cut.',
      sql: answer(13),
      faults: [...Array(8).fill(away), null, { status: 503 }, null, ...broken],
    },
    {
      promise: 'A 403 ends the run with the message, and the next run loads what is missing.',
      sql: answer(11),
      faults: Array(10_000).fill(forbidden),
      stops: ERRORS.plan.message,
      mayEnd: true,
    },
    {
      promise: 'A plan that shrinks during a run leaves the days that it does not reach as they are.',
      sql: `${answer(86)} ${answer(95)}`,
      event: { page: 1, change: { sql: setPlan('pro'), undo: setPlan('enterprise') } },
      mayEnd: true,
    },
    {
      promise: 'A plan that reaches further back again completes the copy.',
      sql: setPlan('enterprise'),
    },
    {
      promise: 'Rows of a brand that left do not count.',
      sql: `${answer(8)} ${setActive(false)}`,
    },
    { promise: 'A brand that returns is complete.', sql: setActive(true) },
    {
      promise: 'Rows of a brand that the key loses do not count.',
      sql: `${answer(7)} ${setBrands(true)}`,
    },
    { promise: 'A key whose list of brands grows has all their rows.', sql: setBrands(false) },
    {
      promise: 'A damaged page leaves no trace: this run or the next requests it again.',
      sql: `${answer(9)} ${answer(40)} ${rename('Renamed again')}`,
      faults: Array(2_000).fill(DAMAGED).flat(),
      mayEnd: true,
    },
    {
      promise:
        "A revoked key ends the run: exit code other than 0, the service's message, the copy as it was.",
      sql: `update api_keys set revoked_at = now() where id = '${fixedId('key', 0)}'`,
      stops: ERRORS.key.message,
    },
  ]
}
