import { csvCell } from '../../lib/rows/write.ts'
import { digestOf } from '../../site/reference/digest.ts'
import type { Column, ColumnType, Stream } from '../../site/reference/streams.ts'
import type { Generated } from './generated.ts'

type Row = Readonly<Record<string, unknown>>

/** The values of a column in two rows, of two days. The second row has null where it can. */
const VALUES: Readonly<Record<ColumnType, readonly [unknown, unknown]>> = {
  uuid: ['0a1b2c3d-4e5f-4607-8899-aabbccddeeff', '1a1b2c3d-4e5f-4607-8899-aabbccddeeff'],
  text: ['a', 'https://b.example/?q="c",d'],
  date: ['2026-10-05', '2026-10-06'],
  timestamp: ['2026-10-07T00:00:00.000001Z', '2026-10-07T00:00:00.000002Z'],
  integer: [1, 2],
  number: [2.5, 0.0001],
  boolean: [true, false],
  json: ['{}', '{}'],
}
const BRAND = VALUES.uuid[0]

/** Writes the seeds of the integration tests of dbt: a brand, two rows of each metric, and their changes. */
export function dbtSeeds(streams: readonly Stream[]): Generated[] {
  const metrics = streams.filter(({ kind }) => kind === 'metric')
  const rowsOf = ({ kind, columns }: Stream): readonly Row[] => {
    if (kind === 'brands') return [rowOf(columns, 0)]
    if (kind === 'metric') return [rowOf(columns, 0), rowOf(columns, 1)]
    return metrics.flatMap((metric) => [changeOf(columns, metric, 0), changeOf(columns, metric, 1)])
  }
  return streams.map((stream) => ({
    path: `dbt/integration_tests/seeds/${stream.name}.csv`,
    text: [stream.columns.map(({ name }) => name), ...rowsOf(stream).map(Object.values)]
      .map((cells) => `${cells.map((cell) => csvCell(cell === null ? null : String(cell))).join(',')}\n`)
      .join(''),
  }))
}

type Index = 0 | 1

const rowOf = (columns: readonly Column[], index: Index): Row =>
  Object.fromEntries(
    columns.map(({ name, type, nullable }) => {
      const value = index === 1 && nullable ? null : VALUES[type][index]
      return [name, name === 'brand_id' ? BRAND : value]
    }),
  )

function changeOf(columns: readonly Column[], { endpoint, columns: own, totals }: Stream, index: Index): Row {
  const row = rowOf(own, index)
  const change = rowOf(columns, index)
  return {
    ...change,
    endpoint,
    rows: 1,
    totals: JSON.stringify(Object.fromEntries(totals.map((name) => [name, row[name]]))),
    digest: digestOf(
      [row],
      own.filter(({ name }) => name !== 'brand_id'),
    ),
    causes: JSON.stringify({ answers: change.changed_at }),
  }
}
