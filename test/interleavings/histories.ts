import fc from 'fast-check'
import pg from 'pg'
import { logAll, refreshAll } from '../../drizzle/db/refresh.ts'
import { verify } from '../../drizzle/db/verify.ts'
import { differences } from '../fixtures/differences.ts'
import { tableOf } from '../fixtures/schema.ts'
import { inexact, METRICS } from '../sync/compare-copy.ts'
import { createCopy } from '../sync/sql-copy.ts'
import { followCauses } from './causes.ts'
import { brand, CHANGES, id } from './changes.ts'

/** One thing that happens; numbers choose rows and values, and each kind takes what it needs. */
export type Step = { readonly kind: string; readonly n: readonly number[] }

/** A kind of step: the copy is brought up to date. */
const READ = 'read'

/** Tables that refer to others. Without foreign keys, truncating those does not truncate these. */
const REFERRING = [
  ...['brands', 'competitors', 'prompts', 'answers'],
  ...['answer_mentions', 'citations', 'sentiment_phrases', 'recommendations'],
]

const STORED = METRICS.map(({ name }) => `daily.${name.replaceAll('-', '_')}`)

/** Deletes all rows and empties the queue. */
export const CLEARANCE = `
  truncate ${['organizations', 'models', 'markets', ...REFERRING].map(tableOf)} cascade;
  truncate daily.change_log, daily.brand_log, daily.readable_brands, daily.refresh_queue, daily.queued_causes, daily.queued_brands,
    daily.changes, ${STORED}`

/** Rows to begin with, so that most steps find something. */
export const BEGINNING = `
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

/** What may happen between changes. */
const OPERATIONS: Readonly<Record<string, (client: pg.Client, a: number, b: number) => Promise<unknown>>> = {
  refresh: refreshSome,
  refreshThenRollback: async (client, a, b) => {
    await client.query('begin')
    await refreshSome(client, a, b)
    await client.query('rollback')
  },
  refreshOnce: (client) => client.query(`select daily.refresh(null, '1 min', 31) from daily.resolve()`),
  recomputeAll: (client) => logAll(client),
  relist: (client, a, b) =>
    client.query(
      `select daily.relist(metric, ${brand(a)}, (now() at time zone 'UTC')::date - 2)
       from daily.row_schemas order by metric limit ${1 + (b % METRICS.length)}`,
    ),
  // Days were listed while the clock was ahead.
  setClockBack: (client, a) =>
    client.query(
      `with ahead as (
         update daily.changes_clock set last = last + interval '1 hour'
         returning to_char(last at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as changed_at
       )
       update daily.changes set changed_at = ahead.changed_at,
         causes = daily.add_causes(null, (select jsonb_agg(kind) from json_object_keys(causes) as kind), ahead.changed_at)
       from ahead where brand_id = ${brand(a)}`,
    ),
}

/** Gives one brand its turn. */
function refreshSome(client: pg.Client, a: number, b: number) {
  return client.query(`select daily.refresh(${brand(a)}, '0 s', ${1 + (b % 3)})`)
}

/** Histories of up to 30 steps, each of a few kinds of change: what goes wrong takes some that meet, not all at once. */
export const histories = (): fc.Arbitrary<Step[]> =>
  fc.subarray(Object.keys(CHANGES), { minLength: 2, maxLength: 4 }).chain((kinds) =>
    fc.array(
      fc.record({
        kind: fc.oneof(
          { weight: 5, arbitrary: fc.constantFrom(...kinds) },
          { weight: 1, arbitrary: fc.constantFrom('addAnswers', 'addCitation', 'movePrompt') },
          { weight: 3, arbitrary: fc.constantFrom(...Object.keys(OPERATIONS)) },
          { weight: 1, arbitrary: fc.constant(READ) },
        ),
        n: fc.tuple(fc.nat(11), fc.nat(11), fc.nat(11), fc.nat(11)),
      }),
      { minLength: 10, maxLength: 30 },
    ),
  )

/**
 * Plays a history from the beginning while a copy of both brands is kept, and brings the daily tables up to date.
 * Returns where they differ from the views, the copy from them, their list of changes from both, and causes from the steps.
 */
export async function play(client: pg.Client, steps: readonly Step[]): Promise<unknown[]> {
  // A history that failed may have left a transaction open.
  await client.query(`rollback; ${CLEARANCE}; truncate daily.changes_clock; ${BEGINNING}`)
  await refreshAll(client)
  const causes = await followCauses(client)

  const rest = steps.values()
  const copy = createCopy(client)
  let reading = false

  /** Brings the copy up to date, with a step of the history before every few of its statements. */
  async function read(every: number): Promise<void> {
    if (reading) return
    reading = true
    let statements = 0
    await copy.sync(async () => {
      statements += 1
      if (statements % every === 0) await proceed()
    })
    reading = false
  }

  /** Plays the next step. Returns false when none is left. */
  async function proceed(): Promise<boolean> {
    const { value: step, done } = rest.next()
    if (done) return false
    const { kind, n } = step
    const [a = 0, b = 0, c = 0, d = 0] = n
    const change = CHANGES[kind]
    const operation = OPERATIONS[kind]
    if (kind === READ) await read(1 + (b % 5))
    if (operation) await operation(client, a, b)
    if (change) await sendUnlessRejected(client, change(a, b, c, d))
    if (change || operation) await causes.afterStep(kind)
    return true
  }

  while (await proceed());
  await refreshAll(client)
  await causes.afterStep('refresh')
  await read(Number.POSITIVE_INFINITY)
  const wrong = [...(await differences(client)), ...causes.unnamed(), ...(await inexact(client, copy.tables))]
  for await (const difference of verify(client, {})) wrong.push(difference)
  return wrong
}

/** A change whose row is gone, or exists already. */
const REJECTED = new Set(['23503', '23505'])

/** Sends a change; one that a constraint rejects is skipped. */
async function sendUnlessRejected(client: pg.Client, sql: string): Promise<void> {
  try {
    await client.query(sql)
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && REJECTED.has(error.code ?? ''))) throw error
    await client.query('rollback')
  }
}
