import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { refreshAll } from '../../drizzle/db/refresh.ts'
import { sqlState } from '../../drizzle/db/sql-state.ts'
import type { OwnDatabase } from '../support/database.ts'
import { withClient } from '../support/database.ts'
import { type Dice, dice } from '../support/dice.ts'
import { scaledTimeout, tries } from '../support/effort.ts'
import { isolatedDatabase } from '../support/isolated.ts'
import { tableOf } from '../support/schema.ts'
import { differences } from '../support/verify.ts'

const SEED = Number(process.env.HOSTILE_SEED ?? 20_261_122)
const CONNECTIONS = 6
const TRANSACTIONS = tries(240)

const [ANSWERS, PROMPTS, BRANDS] = [12, 6, 3]
const id = (space: number, n: number): string =>
  `'${String(space).padStart(8, '0')}-0000-4000-8000-${String(n).padStart(12, '0')}'`
const brand = (n: number) => id(1, n)
const prompt = (n: number) => id(2, n)
const answer = (n: number) => id(3, n)
const citation = (n: number) => id(4, n)
const market = id(5, 0)
const instant = ({ below }: Dice) => `'2026-10-0${1 + below(4)}T12:00:00Z'`

/** White space that no other mention has, so that no two insert the same key. It does not count in names. */
const BLANKS = String.raw`translate(md5(gen_random_uuid()::text), '0123456789abcdef',
  e' \t\n\u000b\f\r\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009')`

const ROWS = `
  insert into organizations (id, name) values (${id(9, 0)}, 'An organization');
  insert into models (id, provider) values ('a-model', 'A provider');
  insert into markets (id, name) values (${market}, 'A market');
  insert into brands (id, organization_id, name, display_name, url, site_url) values
    ${list(BRANDS, (n) => `(${brand(n)}, ${id(9, 0)}, 'Acme', 'Acme', '', '')`)};
  insert into prompts (id, brand_id, text) values
    ${list(PROMPTS, (n) => `(${prompt(n)}, ${brand(n % BRANDS)}, 'Which?')`)};
  insert into answers (id, prompt_id, model_id, market_id, answered_at) values
    ${list(ANSWERS, (n) => `(${answer(n)}, ${prompt(n % PROMPTS)}, 'a-model', ${market}, '2026-10-01T12:00:00Z')`)};
  insert into citations (id, answer_id, url, owned, recorded_at) values
    ${list(ANSWERS, (n) => `(${citation(n)}, ${answer(n)}, 'https://site.example/', false, '2026-10-02T12:00:00Z')`)}`

function list(count: number, row: (n: number) => string): string {
  return Array.from({ length: count }, (_, n) => row(n)).join()
}

/** Inserts what belongs to an answer. Its foreign key conflicts with no update. */
const CHILDREN: readonly ((n: number, dice: Dice) => string)[] = [
  (n, dice) =>
    `insert into citations (answer_id, url, owned, recorded_at)
     values (${answer(n)}, 'https://site.example/${dice.below(3)}', ${dice.chance(0.5)}, ${instant(dice)})`,
  (n, dice) =>
    `insert into answer_mentions (answer_id, name)
     values (${answer(n)}, '${dice.pick(['Acme', 'Globex'])}' || ${BLANKS})`,
  (n, dice) =>
    `insert into sentiment_phrases (answer_id, polarity, confidence)
     values (${answer(n)}, '${dice.pick(['positive', 'negative'])}', 0.${dice.below(9)})`,
  (n, dice) =>
    `insert into answers (prompt_id, model_id, market_id, answered_at)
     values (${prompt(n % PROMPTS)}, 'a-model', ${market}, ${instant(dice)})`,
]

/** Changes one answer or its first citation. */
const CHANGES: typeof CHILDREN = [
  (n, dice) => `update answers set answered_at = ${instant(dice)} where id = ${answer(n)}`,
  (n, dice) => `update answers set prompt_id = ${prompt(dice.below(PROMPTS))} where id = ${answer(n)}`,
  (n, dice) => `update answers set error = ${dice.pick(['null', "'late'"])} where id = ${answer(n)}`,
  (n, dice) => `update citations set recorded_at = ${instant(dice)} where id = ${citation(n)}`,
  (n) => `delete from citations where id = ${citation(n)}`,
]

const PROMPT_CHANGES: typeof CHILDREN = [
  (n, dice) => `update prompts set brand_id = ${brand(dice.below(BRANDS))} where id = ${prompt(n)}`,
  (n, dice) => `update prompts set retired_at = ${dice.pick(['null', 'now()'])} where id = ${prompt(n)}`,
]

/**
 * The statements of a transaction that cannot deadlock by themselves: it touches each answer once, in the order of
 * their numbers, and then prompts, in theirs. One with a fixed snapshot only inserts, so that Postgres aborts none.
 */
function transaction(dice: Dice): string[] {
  const isolation = dice.pick(['read committed', 'read committed', 'repeatable read', 'serializable'])
  const changes = isolation === 'read committed' ? [...CHILDREN, ...CHANGES] : CHILDREN.slice(0, 3)
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)
  const begin = `begin isolation level ${isolation}; select count(*) from answers`
  const onAnswers = dice.some(numbers(ANSWERS), 0.3).map((n) => dice.pick(changes)(n, dice))
  if (isolation !== 'read committed') return [begin, ...onAnswers]
  return [
    begin,
    ...onAnswers,
    ...dice.some(numbers(PROMPTS), 0.1).map((n) => dice.pick(PROMPT_CHANGES)(n, dice)),
  ]
}

/** Runs random transactions on several connections at once; returns the states of their errors. */
async function cross(url: string): Promise<string[]> {
  const failures: string[] = []
  const work = Array.from({ length: CONNECTIONS }, (_, number) =>
    withClient(url, async (client) => {
      const own = dice(SEED + number)
      for (let left = TRANSACTIONS / CONNECTIONS; left > 0; left -= 1) {
        try {
          for (const sql of transaction(own)) await client.query(sql)
        } catch (error) {
          failures.push(sqlState(error) ?? String(error))
        }
        await client.query('commit')
      }
    }),
  )
  await Promise.all(work)
  return failures
}

describe.runIf(inject('realPostgres'))('transactions that cross (skipped without DATABASE_URL)', () => {
  let tracked: OwnDatabase
  let untracked: OwnDatabase

  beforeAll(async () => {
    ;[tracked, untracked] = await Promise.all([isolatedDatabase(), isolatedDatabase()])
    await withClient(untracked.url, async (client) => {
      for (const table of ['prompts', 'answers', 'answer_mentions', 'citations', 'sentiment_phrases']) {
        await client.query(`alter table ${tableOf(table)} disable trigger user`)
      }
    })
    for (const { url } of [tracked, untracked]) await withClient(url, (client) => client.query(ROWS))
  })

  afterAll(() => Promise.all([tracked.drop(), untracked.drop()]))

  test.each([
    'read committed',
    'repeatable read',
    'serializable',
  ])('a load and a change of its answers meet both ways, in %s', async (isolation) => {
    for (const { url } of [untracked, tracked]) {
      await withClient(url, (load) =>
        withClient(url, async (change) => {
          const cite = (n: number) => load.query(CHILDREN[0]?.(n, dice(n)) ?? '')
          const fail = (n: number) =>
            change.query(`update answers set error = 'late' where id = ${answer(n)}`)
          await load.query(`begin isolation level ${isolation}`)
          await change.query(`begin isolation level ${isolation}`)
          await cite(1)
          await fail(2)
          await Promise.all([cite(2), fail(1)])
          await load.query('commit')
          await change.query('commit')
        }),
      )
    }
    await expectExact()
  })

  test('a load without foreign keys commits the children after the parents and a refresh', () =>
    withClient(tracked.url, (parents) =>
      withClient(tracked.url, async (children) => {
        const [newPrompt, newAnswer] = [PROMPTS, ANSWERS]
        await parents.query('set session_replication_role = replica')
        await children.query('set session_replication_role = replica; begin')
        for (const insert of CHILDREN.slice(0, 3)) await children.query(insert(newAnswer, dice(SEED)))
        await parents.query(
          `insert into answers (id, prompt_id, model_id, market_id, answered_at)
           values (${answer(newAnswer)}, ${prompt(newPrompt)}, 'a-model', ${market}, '2026-10-01T12:00:00Z')`,
        )
        await refreshAll(parents)
        await parents.query(
          `insert into prompts (id, brand_id, text) values (${prompt(newPrompt)}, ${brand(0)}, 'Which?')`,
        )
        await refreshAll(parents)
        await children.query('commit')
        await expectExact()
      }),
    ))

  test(
    `${TRANSACTIONS} random transactions fail no more often than without triggers, next to refreshes (HOSTILE_SEED=${SEED})`,
    async () => {
      expect(await cross(untracked.url)).toEqual([])
      let crossing = true
      const [failures] = await Promise.all([
        cross(tracked.url).finally(() => {
          crossing = false
        }),
        withClient(tracked.url, async (client) => {
          while (crossing) await refreshAll(client)
        }),
      ])
      expect(failures).toEqual([])
      await expectExact()
    },
    scaledTimeout(60_000),
  )

  /** Expects one refresh run to make the stored rows equal the views. */
  const expectExact = () =>
    withClient(tracked.url, async (client) => {
      await refreshAll(client)
      expect(await differences(client)).toEqual([])
    })
})
