import type { Formula, Term } from '../lib/operation.ts'

export type Row = Readonly<Record<string, unknown>>

/** The formula of a metric, and what its chart can have a line for each of. */
export type Metric = {
  readonly title: string
  readonly formula: Pick<Formula, 'part' | 'whole'> & {
    readonly per?: string | undefined
    readonly breakdown?: string | undefined
  }
}

/** The sides of a formula on each day, over the rows with the same values of {@link FIELDS}. */
export type Cell = {
  readonly values: Readonly<Record<string, string>>
  readonly part: readonly number[]
  readonly whole: readonly number[]
}

/** Sums over all days from the first to the last that has rows. */
export type Sums = { readonly days: readonly string[]; readonly cells: readonly Cell[] }

/** The fields of rows that charts tell apart, or filter by. `is_brand` tells the brand from its competitors. */
export const FIELDS = ['model_id', 'market', 'competitor_name', 'entity_name', 'is_brand']

const DAY = 86_400_000

/** Adds up the sides of a formula, which are sums, row by row. */
export function addRows({ part, whole }: Metric['formula']) {
  const dates = new Set<string>()
  const cells = new Map<
    string,
    Pick<Cell, 'values'> & { byDay: Map<string, [part: number, whole: number]> }
  >()
  return {
    add(row: Row): void {
      const values = Object.fromEntries(
        FIELDS.flatMap((field) => (row[field] === undefined ? [] : [[field, String(row[field])]])),
      )
      const key = JSON.stringify(values)
      const { byDay } = cells.get(key) ?? { byDay: new Map() }
      if (byDay.size === 0) cells.set(key, { values, byDay })
      const date = String(row.date)
      dates.add(date)
      const [partBefore = 0, wholeBefore = 0] = byDay.get(date) ?? []
      byDay.set(date, [partBefore + sideOf(part, row), wholeBefore + sideOf(whole, row)])
    },
    result(): Sums {
      const days = everyDay([...dates].sort())
      const side = (byDay: Map<string, number[]>, index: 0 | 1) =>
        days.map((day) => byDay.get(day)?.[index] ?? 0)
      return {
        days,
        cells: [...cells.values()].map(({ values, byDay }) => ({
          values,
          part: side(byDay, 0),
          whole: side(byDay, 1),
        })),
      }
    },
  }
}

/** Returns the sums of a brand's visibility as a cell among those of its competitors, on their days. */
export function brandCell(own: Sums, days: readonly string[], name: string): Cell {
  const side = (of: 'part' | 'whole') =>
    days.map((day) => {
      const index = own.days.indexOf(day)
      return own.cells.reduce((sum, cell) => sum + (cell[of][index] ?? 0), 0)
    })
  return { values: { competitor_name: name, is_brand: 'true' }, part: side('part'), whole: side('whole') }
}

/** Returns the value of a side of a formula for one row. */
const sideOf = (side: readonly Term[], row: Row): number =>
  side.reduce<number>((total, term) => {
    if (typeof term === 'string') return total + Number(row[term])
    return total + Math.round((Number(row[term.rate]) * Number(row[term.of])) / 100)
  }, 0)

/** Returns the days from the first to the last of these, which are in ascending order. */
function everyDay(days: readonly string[]): string[] {
  const [first, last] = [Date.parse(days[0] ?? ''), Date.parse(days.at(-1) ?? '')]
  return Array.from({ length: days.length === 0 ? 0 : (last - first) / DAY + 1 }, (_, day) =>
    new Date(first + day * DAY).toISOString().slice(0, 10),
  )
}
