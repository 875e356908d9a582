import type { ClientBase } from 'pg'
import { inDatabase } from '../database.ts'
import { depthAt, shapeOf } from '../index-shape.ts'
import { DAYS, fillTables, makeTables, ROWS_A_DAY, rewriteDay, TABLES } from '../large.ts'
import { type Position, pages } from '../page.ts'
import { figure } from '../print.ts'
import { alternate, timed } from '../rounds.ts'
import type { Section } from '../section.ts'
import { addBrand, tenant } from '../tenant.ts'

const ROUNDS = { page: 200, day: 30 }
const FIRST_DAY = '2025-11-21'
const BILLION = 1_000_000_000

/** What twenty million daily rows cost, in one table and in a partition a month, against a twentieth of them. */
export const section: Section = ({ serverUrl, sized, tell }) =>
  inDatabase(serverUrl, async (client) => {
    const whose = await tenant(client)
    const brandIds = []
    for (let brand = 0; brand < sized(100); brand += 1) brandIds.push(await addBrand(client, whose))
    const [brandId = ''] = brandIds
    tell(`${figure(brandIds.length * DAYS * ROWS_A_DAY)} daily rows, and again in partitions`)
    await makeTables(client)
    await fillTables(client, brandIds)

    tell('pages')
    const reads = []
    for (const { schema, share } of TABLES) {
      const held = brandIds.slice(0, Math.max(1, Math.round(brandIds.length * share)))
      const read = pages({ client, keyHash: whose.keyHash, schema, first: FIRST_DAY })
      const last = await read.position(brandId)
      let turn = 0
      const some = () => {
        turn += 1
        return { brandId: held[(turn * 37) % held.length] ?? brandId, day: dayOf((turn * 101) % (DAYS - 3)) }
      }
      const somewhere = (): Position => [some().day, 'ffffffff-ffff-ffff-ffff-ffffffffffff']
      reads.push([
        [`first ${schema}`, () => timed(() => read.first(brandId))],
        [`last ${schema}`, () => timed(() => read.after(brandId, last))],
        [`any ${schema}`, () => timed(() => read.after(some().brandId, somewhere()))],
      ] as const)
    }
    const page = await alternate(Object.fromEntries(reads.flat()), ROUNDS.page)

    tell('days')
    const day = await alternate(
      Object.fromEntries(
        TABLES.map(({ schema }) => {
          let turn = 0
          const measure = () => {
            turn += 23
            return rewritten(client, { schema, brandId, day: dayOf(turn % DAYS) })
          }
          return [schema, measure]
        }),
      ),
      ROUNDS.day,
    )

    const rows = []
    for (const { schema, partitioned } of TABLES) {
      const { count, heap, index } = await sizeOf(client, schema)
      const { depth } = await shapeOf(client, schema)
      rows.push([
        `${figure(count)} rows${partitioned ? ', a partition a month' : ''}`,
        page(`first ${schema}`) / page('first small'),
        page(`last ${schema}`) / page('last small'),
        page(`any ${schema}`) / page('any small'),
        day(schema) / day('small'),
        depth,
        (heap + index) / 2 ** 30,
        Math.round((heap + index) / count),
      ])
    }
    const shape = await shapeOf(client, 'daily')
    const { count, heap, index } = await sizeOf(client, 'daily')
    return [
      {
        title: 'Citation share in a large table',
        columns: [
          'table',
          'first page of a year',
          'last page of a year',
          'page anywhere',
          'a day rewritten',
          'index depth',
          'GiB',
          'bytes a row',
        ],
        rows,
        note: `1 = the smallest table (first ${figure(page('first small'))} ms, last ${figure(page('last small'))} ms, anywhere ${figure(page('any small'))} ms, a day of ${ROWS_A_DAY} rows ${figure(day('small'))} ms). Anywhere: another brand and day each time. Medians of ${ROUNDS.page} and ${ROUNDS.day} alternating rounds. Derived: a billion rows take ${figure((BILLION * heap) / count / 2 ** 30)} GiB of heap and ${figure((BILLION * index) / count / 2 ** 30)} GiB of index, which is ${depthAt(BILLION, shape)} pages deep (a leaf holds ${figure(Math.round(shape.leaf))} entries, a page above ${figure(Math.round(shape.fanout))}).`,
      },
    ]
  })

const dayOf = (offset: number): string =>
  new Date(Date.parse(FIRST_DAY) + offset * 86_400_000).toISOString().slice(0, 10)

async function rewritten(client: ClientBase, day: Parameters<typeof rewriteDay>[1]): Promise<number> {
  await client.query('begin')
  const ms = await timed(() => rewriteDay(client, day))
  await client.query('rollback')
  return ms
}

async function sizeOf(client: ClientBase, schema: string) {
  const { rows } = await client.query<{ count: number; heap: number; index: number }>(
    `select sum(reltuples)::float8 as count, sum(pg_table_size(oid))::float8 as heap, sum(pg_indexes_size(oid))::float8 as index
     from pg_class where relnamespace = $1::regnamespace and relkind = 'r' and relname like 'citation_share%'`,
    [schema],
  )
  const [size] = rows
  if (size === undefined) throw new Error(`No table in ${schema}`)
  return size
}
