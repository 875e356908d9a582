import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { openClients } from '../support/clients.ts'
import { sample } from '../support/daily-sample.ts'
import { CLEARANCE } from '../support/history.ts'
import { settles } from '../support/locks.ts'
import { MAPPED } from '../support/schema.ts'
import { differences } from '../support/verify.ts'
import { brand, place, prompt, refresh } from '../support/world.ts'

/** What a race is about: an answer to a prompt of a brand, with one of everything, and what is around it. */
type Ground = Readonly<
  Record<
    | 'answer'
    | 'prompt'
    | 'brand'
    | 'competitor'
    | 'newcomer'
    | 'model'
    | 'market'
    | 'elsewhere'
    | 'otherBrand',
    string
  >
>

type Act = (ground: Ground) => string

/** Writes to an existing answer or to its prompt. */
const WRITES: Readonly<Record<string, Act>> = {
  'adds a citation': ({ answer }) =>
    `insert into citations (answer_id, url, owned, recorded_at) values ('${answer}', 'https://late.example/', true, '2026-10-05T09:00:00Z')`,
  'adds a mention': ({ answer }) =>
    `insert into answer_mentions (answer_id, name) values ('${answer}', 'ACME')`,
  'adds a phrase': ({ answer }) =>
    `insert into sentiment_phrases (answer_id, polarity, confidence) values ('${answer}', 'negative', 0.3)`,
  'adds a judgement': ({ answer, newcomer }) =>
    `insert into recommendations (answer_id, competitor_id, recommended) values ('${answer}', '${newcomer}', true)`,
  'adds an answer': ({ prompt, model, market }) =>
    `with added as (
       insert into answers (prompt_id, model_id, market_id, answered_at)
       values ('${prompt}', '${model}', '${market}', '2026-10-07T09:00:00Z') returning id
     ) select id from added`,
  'owns a citation': ({ answer }) => `update citations set owned = true where answer_id = '${answer}'`,
  'records a citation again': ({ answer }) =>
    `update citations set recorded_at = '2026-10-06T09:00:00Z' where answer_id = '${answer}'`,
  'deletes a citation': ({ answer }) => `delete from citations where answer_id = '${answer}'`,
  'deletes mentions': ({ answer }) => `delete from answer_mentions where answer_id = '${answer}'`,
  'changes a phrase': ({ answer }) =>
    `update sentiment_phrases set confidence = 0.1 where answer_id = '${answer}'`,
  'changes a judgement': ({ answer }) =>
    `update recommendations set recommended = not recommended where answer_id = '${answer}'`,
}

/** Changes of what such a row belongs to. */
const MOVES: Readonly<Record<string, Act>> = {
  'moves the answer to another day': ({ answer }) =>
    `update answers set answered_at = '2026-10-09T09:00:00Z' where id = '${answer}'`,
  'moves the answer to a prompt of another brand': ({ answer, elsewhere }) =>
    `update answers set prompt_id = '${elsewhere}' where id = '${answer}'`,
  'moves the answer to another model': ({ answer }) =>
    `update answers set model_id = (select min(id) from models where id <> answers.model_id) where id = '${answer}'`,
  'makes the answer an error': ({ answer }) =>
    `update answers set error = 'withdrawn' where id = '${answer}'`,
  'deletes the answer': ({ answer }) => `delete from answers where id = '${answer}'`,
  'moves the prompt to another brand': ({ prompt, otherBrand }) =>
    `update prompts set brand_id = '${otherBrand}' where id = '${prompt}'`,
  'retires the prompt': ({ prompt }) => `update prompts set retired_at = now() where id = '${prompt}'`,
  'deletes the prompt': ({ prompt }) => `delete from prompts where id = '${prompt}'`,
  'renames the brand': ({ brand }) =>
    `update brands set name = 'Apex', display_name = 'Apex' where id = '${brand}'`,
  'deletes the brand': ({ brand }) => `delete from brands where id = '${brand}'`,
  'adds a competitor': ({ brand }) => `insert into competitors (brand_id, name) values ('${brand}', 'Acme')`,
  'renames a competitor': ({ competitor }) =>
    `update competitors set name = 'Hooli' where id = '${competitor}'`,
  'deactivates a competitor': ({ competitor }) =>
    `update competitors set active = false where id = '${competitor}'`,
  'deletes a competitor': ({ newcomer }) => `delete from competitors where id = '${newcomer}'`,
  'renames the market': ({ market }) => `update markets set name = 'Renamed' where id = '${market}'`,
  'changes the provider of the model': ({ model }) =>
    `update models set provider = 'Sold' where id = '${model}'`,
}

/** Soft deletes: an update takes rows out of the views. */
const SOFT_MOVES: Readonly<Record<string, Act>> = {
  'deletes the answer softly': ({ answer }) =>
    `update app.llm_runs set deleted_at = now() where uid = '${answer}'`,
  'deletes the prompt softly': ({ prompt }) =>
    `update app.questions set deleted_at = now() where uid = '${prompt}'`,
  'deletes the citations softly': ({ answer }) =>
    `update app.links set deleted_at = now() where run = '${answer}'`,
  'deletes the brand softly': ({ brand }) =>
    `update app.tracked_brands set deleted_at = now() where uid = '${brand}'`,
}

describe.skipIf(!inject('realPostgres'))(
  'with one transaction open next to another (skipped without a server: set DATABASE_URL)',
  () => {
    let db: pg.Pool
    let one: pg.Client
    let other: pg.Client
    let close: () => Promise<void>

    beforeAll(async () => {
      ;({ db, one, other, close } = await openClients())
    })
    afterAll(() => close())

    // All brands are compared after each race: those of the tests before would be compared again and again.
    beforeEach(() => db.query(CLEARANCE))

    async function ground(): Promise<Ground> {
      const its = await sample(db)
      const otherBrand = await brand(db, { id: its.organization, owner: '' })
      const elsewhere = await prompt(db, otherBrand)
      // Another model and another market, to move to.
      await place(db)
      const { model, market, prompt: asked } = its.said
      return { ...its, model, market, prompt: asked, elsewhere, otherBrand }
    }

    /** Lets two transactions overlap, with a refresh between their commits; what Postgres refuses is rolled back. */
    async function overlap(
      [first, firstSql]: readonly [pg.Client, string],
      [second, secondSql]: readonly [pg.Client, string],
      laterFirst: boolean,
    ): Promise<void> {
      await first.query('begin')
      await second.query('begin')
      const { rows } = await second.query('select pg_backend_pid() as pid')
      await first.query(firstSql)
      const work = second.query(secondSql)
      const alone = await settles(db, work, rows[0].pid)
      const ends = alone && laterFirst ? [second, first] : [first, second]
      for (const client of ends) {
        if (client === second) await work.catch(() => undefined)
        // After an error this rolls back.
        await client.query('commit')
        if (client === first && !alone) await work.catch(() => undefined)
        await refresh(db)
      }
    }

    /** A repeatable-read transaction writes after another one has moved what it writes to. */
    async function writeOverMove(ground: Ground, write: Act, move: Act): Promise<void> {
      await one.query('begin isolation level repeatable read')
      await one.query('select count(*) from answers')
      await other.query(move(ground))
      await refresh(db)
      await one.query(write(ground)).catch(() => undefined)
      await one.query('commit')
      await refresh(db)
    }

    const ORDERS: Readonly<Record<string, (ground: Ground, write: Act, move: Act) => Promise<void>>> = {
      'the later one commits first': (its, write, move) =>
        overlap([one, write(its)], [other, move(its)], true),
      'the earlier one commits first': (its, write, move) =>
        overlap([one, write(its)], [other, move(its)], false),
      'the move comes first': (its, write, move) => overlap([other, move(its)], [one, write(its)], true),
      'the writer is in repeatable read': writeOverMove,
    }

    test.for(
      Object.entries({ ...MOVES, ...(MAPPED && SOFT_MOVES) }),
    )('the stored rows equal the views when one transaction %s while another writes', async ([, move]) => {
      const wrong: string[] = []
      for (const [writeName, write] of Object.entries(WRITES)) {
        for (const [order, run] of Object.entries(ORDERS)) {
          await run(await ground(), write, move)
          const found = await differences(db)
          if (found.length > 0) {
            wrong.push(`${writeName}, ${order}: ${JSON.stringify(found)}`)
            await db.query(CLEARANCE)
          }
        }
      }
      expect(wrong).toEqual([])
    })
  },
)
