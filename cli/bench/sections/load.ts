import { createDatabase } from '../database.ts'
import { alternate, timed } from '../measure.ts'
import { figure, type Section } from '../section.ts'
import { addBrands, addTenant } from '../tenant.ts'
import { fill, TABLES } from '../volume.ts'

const ROUNDS = 8

/** What the triggers cost when data is loaded, and what it costs to resolve their log. */
export const section: Section = async ({ serverUrl, sized, report }) => {
  await using database = await createDatabase(serverUrl)
  const { client } = database
  const { organizationId } = await addTenant(client)
  const staged = TABLES.map((table) => `create table staged.${table} (like ${table} including defaults)`)
  await client.query(`create schema staged; ${staged.join(';')}`)
  const rows = []
  for (const { name, answers, statement } of [
    { name: 'in bulk, one statement per table', answers: sized(100_000), statement: inBulk },
    { name: 'row by row, in one transaction', answers: sized(10_000), statement: rowByRow },
  ]) {
    report(`${figure(answers)} answers ${name}`)
    const measure = async (setTriggers: string) => {
      const [brandId = ''] = await addBrands(client, organizationId, 1)
      await client.query(`truncate ${TABLES.map((table) => `staged.${table}`)}; select daily.resolve()`)
      await fill(client, { brandId, answers, days: 90, citations: [2, 3], into: 'staged' })
      await client.query(`${setTriggers}; checkpoint`)
      const ms = await timed(() => client.query(statement))
      const { rowCount } = await client.query('select from daily.change_log')
      const resolve = await timed(() => client.query('select daily.resolve()'))
      return { ms, logged: rowCount ?? 0, resolve }
    }
    const middle = await alternate(
      { with: () => measure(withTriggers), without: () => measure(withoutTriggers) },
      ROUNDS,
    )
    rows.push([
      `${figure(answers)} answers ${name}`,
      middle('with', ({ ms }) => ms) / middle('without', ({ ms }) => ms),
      middle('with', ({ logged }) => logged / answers),
      middle('with', ({ resolve, logged }) => (resolve / logged) * 10_000),
    ])
  }
  return [
    {
      title: 'What a load costs',
      columns: ['load', 'with triggers, to without', 'log rows per answer', 'ms to resolve 10,000'],
      rows,
      note: `Goal: at most 1.2 in bulk, and 2.5 row by row inside the server. Medians of ${ROUNDS} alternating rounds.`,
    },
  ]
}

const withTriggers = 'select daily.create_triggers(base, source) from daily.untracked_tables()'
const withoutTriggers = TABLES.map((table) => `alter table ${table} disable trigger user`).join(';')

const inBulk = TABLES.map((table) => `insert into ${table} select * from staged.${table}`).join(';')
const copyRows = (table: string) =>
  `for one_of_${table} in select * from staged.${table} loop insert into ${table} select one_of_${table}.*; end loop`
const rowByRow = `do $$ declare ${TABLES.map((table) => `one_of_${table} ${table};`).join(' ')}
  begin ${TABLES.map(copyRows).join(';')}; end $$`
