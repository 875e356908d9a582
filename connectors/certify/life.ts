import type { Plan } from '../../lib/access/plans.ts'
import { ERRORS } from '../../lib/request/errors.ts'
import { type Alteration, alterPage } from './alter.ts'
import { URLS_OF_A_PAGE } from './brands.ts'
import { daysBefore, fixedId } from './organization.ts'
import type { Fault, Watched } from './proxy.ts'

/** What happens before a run of the command, and what the run has to do. */
export type Step = {
  readonly promise: string
  /** Statements that change the service's data, in one change or in several. */
  readonly sql?: string | readonly string[]
  readonly faults?: readonly Fault[]
  /** What changes the service during the run. */
  readonly during?: Intervention
  /** Whether the run may end with an exit code other than 0, and leave its work to the next run. */
  readonly mayEnd?: boolean
  /** The most requests that the run may send. */
  readonly most?: number
  /** A text in the output of a run that has to end with an exit code other than 0. */
  readonly stops?: string
  /** Whether the run repairs what the run before noticed. */
  readonly isRepair?: boolean
  /** Whether the copy is compared with the service. Default: true. */
  readonly isCompared?: boolean
}

/** Statements that change the service while a loader asks it, and those that undo them for the next loader. */
export type Intervention = {
  /** The second page of a metric, or the first list of the changes of all brands. */
  readonly request: Watched
  readonly before: string
  /** Statements that run after the response. */
  readonly after?: string
  readonly undo: string
}

/** Twice what a run without changes costs: `/brands`, and `/changes` of two brands. */
const MOST_REQUESTS = 6

const later: Fault = { status: 429, retryAfter: 1 }
const away: Fault = { status: 503, retryAfter: 1 }
/** Connections that break before and within a response. */
const broken: readonly Fault[] = ['dropped', 'dropped', null, 'cut', null, 'cut']
const gone: Fault = { ofMetric: { status: ERRORS.brand.status, error: ERRORS.brand.message } }
/** A page of a metric that is altered on its way. */
export const altered = (alteration: Alteration): Fault => ({
  ofMetric: {
    rewrite: async (body, status) => (status === 200 ? alterPage(body, alteration) : body),
  },
})

/** Three of ten responses. */
const ALTERED: readonly Fault[] = [
  null,
  altered('exchange'),
  null,
  null,
  altered('rename'),
  null,
  null,
  altered('lose'),
  null,
  null,
]

const setPlan = (plan: Plan): string =>
  `update subscriptions set plan = '${plan}' where organization_id = '${fixedId('organization')}'`

const setActive = (isActive: boolean): string =>
  `update brands set active = ${isActive} where id = '${fixedId('brand', 1)}'`

/** Limits all keys to the first brand, or removes the limit. */
const setBrands = (isLimited: boolean): string =>
  `update api_keys set brand_ids = ${isLimited ? `array['${fixedId('brand', 0)}'::uuid]` : 'null'}`

/** Returns the steps of a service's life, in their order. */
export function life(today: string): readonly Step[] {
  const noon = (age: number): string => `'${daysBefore(today, age)}T12:00:00Z'`
  const ofDay = (age: number) => `where answered_at = ${noon(age)} and prompt_id = '${fixedId('prompt', 0)}'`
  /** Adds an answer to a brand, or to each, which changes a day of all metrics. */
  const answer = (age: number, brand?: number): string => `
    with answer as (
      insert into answers (prompt_id, model_id, market_id, answered_at)
      select prompts.id, 'certify-model', '${fixedId('market', 0)}', ${noon(age)} from prompts
      ${brand === undefined ? '' : `where prompts.id = '${fixedId('prompt', brand)}'`}
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

  return [
    { promise: 'The first run loads every row of every page.' },
    {
      promise: `A run without changes sends at most ${MOST_REQUESTS} requests and leaves the copy as it is.`,
      most: MOST_REQUESTS,
    },
    {
      promise: 'Days are replaced whole: late rows arrive, and rows that vanish go.',
      sql: `${answer(97)} delete from citations using answers ${ofDay(12)} and answers.id = answer_id
        and url like '%n=1&%'`,
    },
    {
      promise: 'A rename arrives on all days.',
      sql: `
        update competitors set name = 'Renamed', aliases = array[name] where id = '${fixedId('rival', 1, 0)}';
        update brands set name = 'Acme 2', aliases = array[name] where id = '${fixedId('brand', 0)}'`,
    },
    { promise: 'A day that has emptied is empty.', sql: `delete from answers ${ofDay(15)}` },
    {
      promise: 'Responses with 429 do not end a run.',
      sql: answer(14),
      faults: [later, later, later, null, later, null, later, later],
    },
    {
      promise: 'Responses with 503, and connections that break, do not end a run.',
      sql: answer(13),
      faults: [...Array(8).fill(away), null, { status: 503 }, null, ...broken],
    },
    {
      promise: 'A run that a 404 stops ends with an exit code other than 0.',
      sql: answer(11),
      faults: Array(10_000).fill(gone),
      stops: '',
      isCompared: false,
    },
    { promise: 'The run after that loads what it did not.' },
    {
      promise: 'A plan that shrinks leaves the days that it does not reach as they are.',
      sql: `${setPlan('pro')}; ${answer(86)} ${answer(95)}`,
    },
    {
      promise: 'A plan that reaches further back again completes the copy.',
      sql: setPlan('enterprise'),
    },
    {
      promise:
        'A plan that shrinks between two pages of a fetch leaves the days that it does not reach as they are.',
      sql: `${answer(10)} insert into citations (answer_id, url, owned, recorded_at)
        select id, 'https://late.example/' || number, false, answered_at
        from answers, generate_series(1, ${URLS_OF_A_PAGE}) as number ${ofDay(97)}`,
      during: { request: 'later page', before: setPlan('pro'), undo: setPlan('enterprise') },
      mayEnd: true,
    },
    {
      promise: 'A plan that reaches further back after that completes the copy.',
      sql: setPlan('enterprise'),
    },
    {
      promise: 'A brand that is inactive while changes are listed is complete when it is active again.',
      sql: [answer(8, 1), answer(8, 0)],
      during: {
        request: 'all changes',
        before: setActive(false),
        after: setActive(true),
        undo: setActive(true),
      },
      mayEnd: true,
    },
    {
      promise: 'A key that loses a brand before changes are listed keeps the others complete.',
      sql: [answer(7, 1), answer(7, 0)],
      during: { request: 'all changes', before: setBrands(true), undo: setBrands(false) },
      mayEnd: true,
    },
    { promise: 'A brand that comes back after that is complete.', sql: setBrands(false) },
    {
      promise: 'Rows that arrive altered are noticed: they are requested again, or the run ends.',
      sql: `${answer(9)} ${answer(40)}
        update competitors set name = 'Renamed again', aliases = array[name] where id = '${fixedId('rival', 1, 0)}';
        update brands set name = 'Acme 3', aliases = array[name] where id = '${fixedId('brand', 0)}'`,
      faults: Array(2_000).fill(ALTERED).flat(),
      mayEnd: true,
    },
    { promise: 'The run after that replaces what arrived altered.', isRepair: true },
    {
      promise:
        "A revoked key ends the run: exit code other than 0, the service's message, the copy as it was.",
      sql: `update api_keys set revoked_at = now() where id = '${fixedId('key', 0)}'`,
      stops: ERRORS.key.message,
    },
  ]
}
