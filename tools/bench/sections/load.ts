import type { ClientBase } from 'pg'
import { inDatabase } from '../database.ts'
import { figure, type Section } from '../section.ts'
import { addBrand, addTenant } from '../tenant.ts'
import { alternateTimes, timed } from '../timing.ts'
import { fill, TABLES, withoutTriggers } from '../volume.ts'

const ROUNDS = 4

/** What the triggers cost when data is loaded in bulk and row by row. */
export const section: Section = ({ serverUrl, sized, report }) =>
  inDatabase(serverUrl, async (client) => {
    const { organizationId } = await addTenant(client)
    await client.query('create schema staged')
    for (const table of TABLES) {
      await client.query(`create unlogged table staged.${table} (like public.${table} including defaults)`)
    }
    const loads = [
      { name: 'in bulk, one statement per table', answers: sized(100_000), load: loadBulk },
      { name: 'row by row, inside the server', answers: sized(2_000), load: loadRows },
    ]
    const rows = []
    for (const { name, answers, load } of loads) {
      report(`${figure(answers)} answers ${name}`)
      const stage = async () => stageBrand(client, await addBrand(client, organizationId), answers)
      const ms = await alternateTimes(
        {
          with: async () => {
            await stage()
            return timed(() => load(client))
          },
          without: async () => {
            await stage()
            return withoutTriggers(client, () => timed(() => load(client)))
          },
        },
        ROUNDS,
      )
      rows.push([`${figure(answers)} answers ${name}`, ms('with') / ms('without'), Math.round(ms('without'))])
    }
    return [
      {
        title: 'What the triggers cost a load',
        columns: ['load', 'with triggers', 'without, ms'],
        rows,
        note: `1 = the same load without triggers. Goal in bulk: at most 1.33. Medians of ${ROUNDS} alternating rounds. Row by row is the worst case: no network stands between the statements.`,
      },
    ]
  })

/** Prepares the rows of a new brand, so that a load only copies. */
async function stageBrand(client: ClientBase, brandId: string, answers: number): Promise<void> {
  await client.query(`truncate ${TABLES.map((table) => `staged.${table}`)}, daily.refresh_queue`)
  await fill(client, { brandId, answers, days: 90, citations: [2, 3], into: 'staged' })
  await client.query('checkpoint')
}

async function loadBulk(client: ClientBase): Promise<void> {
  for (const table of TABLES) await client.query(`insert into ${table} select * from staged.${table}`)
}

async function loadRows(client: ClientBase): Promise<void> {
  const variables = TABLES.map((table) => `one_of_${table} public.${table};`)
  const loops = TABLES.map(
    (table) => `for one_of_${table} in select * from staged.${table} loop
      insert into public.${table} select one_of_${table}.*;
    end loop;`,
  )
  await client.query(`do $$ declare ${variables.join(' ')} begin ${loops.join('\n')} end $$`)
}
