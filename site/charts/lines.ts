import { addDays, DAY_MS } from './days.ts'
import { type Cell, type Metric, type Sides, type Sums, shareOf, sum } from './sums.ts'

/** What a point of a chart stands for. Weeks are those of ISO 8601: from Monday to Sunday. */
export type Unit = 'day' | 'week'

/** The days of a point. Of the first and the last week, it has those that are shown. */
export type Point = { readonly first: string; readonly last: string; readonly days: number }

/** A line of a chart: the sides of its formula at each point. */
export type Line = {
  readonly name: string
  /** Whether it stands apart: the brand, or the total. */
  readonly lead: boolean
  /** Its colour from 1, which follows from its name and what the chart is split by; 0 for the lead; null for lines beyond those that have a colour. */
  readonly color: number | null
  readonly part: readonly number[]
  readonly whole: readonly number[]
}

export type Lines = {
  readonly unit: Unit
  readonly points: readonly Point[]
  /** The lead first, then in the order of their rates. */
  readonly lines: readonly Line[]
}

/** What a chart can have a line for each of. */
export type Split = {
  readonly label: string
  /** Without it, all rows are one line. */
  readonly field: string | undefined
  /** Whether the total of the lines is a line, too. */
  readonly total: boolean
}

/** What to draw of the sums. */
export type View = {
  readonly split: Split
  /** The first and the last day to show. All days by default. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** Values of fields that rows must have. A row that lacks a field passes. */
  readonly where?: Readonly<Record<string, string>> | undefined
  /** By default, days where they can be read. */
  readonly unit?: Unit | undefined
}

/** Days, inclusive. */
export type Days = { readonly from: string; readonly to: string }

/** Two periods, whose rates are compared. */
export type Compared = { readonly before: Days; readonly now: Days }

/** Lines through more points cannot be read. */
const MOST_DAYS = 60
/** Colours of each kind: competitors, and then models and markets. A line's own follows from its name, or is the next free one. */
const COLORS = 6
/** Lines of a chart that have a colour. The last two have colours of the other kind. */
const MOST_COLORED = 8
/**
 * From these on, days are joined to weeks where a line has fewer answers a day than there are days. In fewer days,
 * seeing each matters more than that its rates are mostly chance.
 */
const FEWEST_DAYS_OF_WEEKS = 21
const TOTAL = 'Total'

type Group = { readonly name: string; readonly isBrand: boolean; readonly cells: Cell[] }

/** Returns what the chart of a metric can have a line for each of. */
export function splitsOf({ formula, title }: Metric): readonly Split[] {
  const { per, breakdown } = formula
  if (breakdown === undefined) return [{ label: title, field: per, total: false }]
  return [
    { label: 'Models', field: breakdown, total: true },
    { label: 'Markets', field: 'market', total: true },
    { label: 'Total', field: undefined, total: false },
  ]
}

/** Writes the days from the first point to the last. */
export function periodOf(points: readonly Point[]): string {
  const [first, last] = [points[0]?.first, points.at(-1)?.last]
  return first === last ? `${first}` : `${first} to ${last}`
}

/** Returns the second half of days and as many before it; undefined for a single day. */
export function halvesOf(days: readonly string[]): Compared | undefined {
  const half = Math.floor(days.length / 2)
  const [first, middle, start, last] = [days.at(-2 * half), days.at(-half - 1), days.at(-half), days.at(-1)]
  if (half === 0 || !first || !middle || !start || !last) return undefined
  return { before: { from: first, to: middle }, now: { from: start, to: last } }
}

/** Returns the rate of some points of a line in percent, or null when there is nothing to divide by. Divides sums. */
export function rateOf({ part, whole }: Pick<Line, 'part' | 'whole'>, from = 0, to?: number): number | null {
  const divisor = sum(whole.slice(from, to))
  return divisor === 0 ? null : (sum(part.slice(from, to)) / divisor) * 100
}

export const percent = (value: number | null, digits = 2): string =>
  value === null ? 'no value' : `${value.toFixed(digits)} %`

/** Writes a rate with a decimal. */
export const percentOf = (sides: Sides): string => percent(sides.whole === 0 ? null : shareOf(sides) * 100, 1)

/** Writes how many answers some points of a line have. */
export const count = ({ whole }: Pick<Line, 'whole'>, from?: number, to?: number): string =>
  `n ${Math.round(sum(whole.slice(from, to))).toLocaleString('en')}`

/** Whether a point is a week of which some days are not shown. */
export const isPartial = (unit: Unit, point: Point | undefined): boolean =>
  unit === 'week' && point !== undefined && point.days < 7

/** Returns the cells whose fields have some values. A cell that lacks a field passes. */
export const cellsOf = ({ cells }: Sums, where: NonNullable<View['where']>): Cell[] =>
  cells.filter(({ values }) =>
    Object.entries(where).every(([field, value]) => (values[field] ?? value) === value),
  )

/** Adds up the lines of a chart. The rate of a week divides its sums: it is no average of rates. */
export function linesOf(sums: Sums, { split, from = '', to = '9999-12-31', where = {}, unit }: View): Lines {
  const { field, label, total } = split
  const all = sums.days.filter((day) => day <= to)
  const start = all.filter((day) => day < from).length
  const days = all.slice(start)
  const cells = cellsOf(sums, where)
  const groups = groupsOf(cells, split)
  const wholes = groups.flatMap(({ cells }) => cells.flatMap(({ whole }) => whole.slice(start, all.length)))
  const readsAsWeeks = days.length >= FEWEST_DAYS_OF_WEEKS && sum(wholes) / groups.length < days.length ** 2
  const unitOf = unit ?? (days.length > MOST_DAYS || readsAsWeeks ? 'week' : 'day')
  const firsts = unitOf === 'day' ? days : days.map(mondayOf)
  const starts = [...days.keys()].filter((day) => firsts[day] !== firsts[day - 1])
  const colors = colorsOf(
    groupsOf(sums.cells, split).filter(({ isBrand }) => !isBrand),
    total,
  )
  const lineOf = ({ name, isBrand, cells }: Group): Line => {
    const lead = isBrand || field === undefined
    const side = (of: 'part' | 'whole') =>
      starts.map((day, point) => {
        const end = start + (starts[point + 1] ?? days.length)
        return sum(cells.flatMap((cell) => cell[of].slice(start + day, end)))
      })
    const color = lead ? 0 : (colors.get(name) ?? null)
    return { name, lead, color, part: side('part'), whole: side('whole') }
  }
  const lines = groups.map(lineOf)
  const rank = (line: Line) => (line.lead ? 101 : (rateOf(line) ?? -1))
  return {
    unit: unitOf,
    points: starts.map((day, point) => {
      const first = (point === 0 ? days[0] : firsts[day]) ?? label
      const isLast = point === starts.length - 1
      const last = isLast ? (days.at(-1) ?? label) : addDays(firsts[day] ?? label, unitOf === 'day' ? 0 : 6)
      return { first, last, days: (Date.parse(last) - Date.parse(first)) / DAY_MS + 1 }
    }),
    lines: [
      ...(total && groups.length > 1 ? [lineOf({ name: TOTAL, isBrand: true, cells })] : []),
      ...lines,
    ].sort((left, right) => rank(right) - rank(left)),
  }
}

const mondayOf = (day: string): string => addDays(day, -((new Date(day).getUTCDay() + 6) % 7))

/** Groups cells by what a chart has a line for each of. */
function groupsOf(cells: readonly Cell[], { field, label }: Split): Group[] {
  const groups = new Map<string, Group>()
  for (const cell of cells) {
    const { is_brand, [field ?? '']: name = label } = cell.values
    const key = `${is_brand}:${name}`
    const group = groups.get(key) ?? { name, isBrand: is_brand === 'true', cells: [] }
    groups.set(key, group)
    group.cells.push(cell)
  }
  return [...groups.values()]
}

/** Gives the largest groups of all days a colour each, which follows from the name, or is the next free one. */
function colorsOf(groups: readonly Group[], areParts: boolean): Map<string, number> {
  const count = groups.length > COLORS ? MOST_COLORED : COLORS
  const colors = Array.from({ length: count }, (_, index) => ((index + (areParts ? COLORS : 0)) % 12) + 1)
  const size = ({ cells }: Group) => sum(cells.flatMap(({ part }) => part))
  const largest = groups.toSorted((left, right) => size(right) - size(left)).slice(0, colors.length)
  const names = largest.map(({ name }) => name).sort()
  const free = new Set(colors)
  return new Map(
    names.map((name) => {
      const codes = [...name].map((letter) => letter.codePointAt(0) ?? 0)
      const hash = codes.reduce((hash, code) => (hash * 31 + code) % 1_000_003, 7)
      const [color = 0] = [...colors.slice(hash % colors.length), ...colors].filter((each) => free.has(each))
      free.delete(color)
      return [name, color]
    }),
  )
}
