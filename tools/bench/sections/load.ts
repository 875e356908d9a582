import type { ClientBase } from 'pg'
import { inDatabase } from '../database.ts'
import { figure } from '../print.ts'
import { alternate, timed } from '../rounds.ts'
import type { Section } from '../section.ts'
import { addBrand, type Tenant, tenant } from '../tenant.ts'
import { withoutTriggers } from '../triggers.ts'
import { fill, RAW } from '../volume.ts'

const ROUNDS = { bulk: 4, rows: 4 }

/** What capturing changes costs a load: of whole tables at once, and row by row. */
export const section: Section = ({ serverUrl, sized, tell }) =>
  inDatabase(serverUrl, async (client) => {
    const whose = await tenant(client)
    await stageTables(client)
    const loads = (load: (client: ClientBase) => Promise<unknown>, answers: number) => ({
      with: async () => {
        await stage(client, whose, answers)
        return timed(() => load(client))
      },
      without: async () => {
        await stage(client, whose, answers)
        return withoutTriggers(client, () => timed(() => load(client)))
      },
    })

    const answers = { bulk: sized(100_000), rows: sized(2_000) }
    tell(`${figure(answers.bulk)} answers in bulk`)
    const bulk = await alternate(loads(loadBulk, answers.bulk), ROUNDS.bulk)
    tell(`${figure(answers.rows)} answers row by row`)
    const rows = await alternate(loads(loadRows, answers.rows), ROUNDS.rows)

    return [
      {
        title: 'What noting changes costs a load',
        columns: ['load', 'with triggers', 'without, ms'],
        rows: [
          [
            `${figure(answers.bulk)} answers with all that belongs to them, a statement a table`,
            bulk('with') / bulk('without'),
            Math.round(bulk('without')),
          ],
          [
            `${figure(answers.rows)} answers, a statement a row, in one transaction inside the server`,
            rows('with') / rows('without'),
            Math.round(rows('without')),
          ],
        ],
        note: `1 = the same load with the triggers switched off; goal in bulk: at most 1.33. An answer has two or three citations, a mention or two, a phrase and two judgements; foreign keys are checked in both. Rows are copied from unlogged tables, a fresh brand each time, 90 days. Medians of ${ROUNDS.bulk} alternating rounds. Row by row without a network between is the worst case: a round trip costs a client more than the triggers do.`,
      },
    ]
  })

async function stageTables(client: ClientBase): Promise<void> {
  await client.query('create schema staged')
  for (const table of RAW) {
    await client.query(`create unlogged table staged.${table} (like public.${table} including defaults)`)
  }
}

/** Prepares the rows of a fresh brand, so that a load has nothing to compute. */
async function stage(client: ClientBase, whose: Tenant, answers: number): Promise<void> {
  await client.query(`truncate ${RAW.map((table) => `staged.${table}`)}, daily.refresh_queue`)
  const brandId = await addBrand(client, whose)
  await fill(client, { brandId, answers, days: 90, citations: [2, 3], into: 'staged' })
  await client.query('checkpoint')
}

async function loadBulk(client: ClientBase): Promise<void> {
  for (const table of RAW) await client.query(`insert into ${table} select * from staged.${table}`)
}

/** A loop in the server: what a row costs, without what a round trip costs. */
async function loadRows(client: ClientBase): Promise<void> {
  const rows = RAW.map((table) => `one_of_${table} public.${table};`)
  const loops = RAW.map(
    (table) => `for one_of_${table} in select * from staged.${table} loop
      insert into public.${table} select one_of_${table}.*;
    end loop;`,
  )
  await client.query(`do $$ declare ${rows.join(' ')} begin ${loops.join('\n')} end $$`)
}
