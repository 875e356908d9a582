import * as z from 'zod/mini'

/** The values from one through another: days, `-infinity` or `infinity`; of a brand's id only the id itself. */
export type Range = { readonly from: string; readonly to: string }

/** What the objects of a query must overlap, as disjoint ranges of each column. Undefined is no bound. */
export type Bounds = { readonly [Column in 'brand_id' | 'date']?: readonly Range[] | undefined }

/** Number of ranges of a column that may reach the database. More are no bound. */
const MOST_RANGES = 1000

/** Levels of a tree that are read: a body has room for more than the stack. */
const MOST_LEVELS = 500

/**
 * Returns the bounds that the hints of a query set, which all must hold. Ignores what it does not read: a hint may only
 * spare objects, and clients filter again.
 */
export function readHints({ predicateHints, jsonPredicateHints }: Readonly<Record<string, unknown>>): Bounds {
  const hints = Array.isArray(predicateHints) ? predicateHints.map(boundsOfSql) : []
  const { brand_id, date } = combine('and', [...hints, boundsOfTree(parse(jsonPredicateHints), MOST_LEVELS)])
  const few = (ranges: Bounds['date']) => (ranges && ranges.length <= MOST_RANGES ? ranges : undefined)
  return { brand_id: few(brand_id), date: few(date) }
}

/**
 * Returns the bounds of predicates that must all hold (`and`) or of which one must (`or`). It takes the columns apart:
 * "brand A on Monday or brand B on Tuesday" gives both days of both brands.
 */
function combine(op: 'and' | 'or', all: readonly Bounds[]): Bounds {
  const bound = (column: keyof Bounds) => {
    const bounds = all.flatMap(({ [column]: ranges }) => (ranges === undefined ? [] : [ranges]))
    if (bounds.length === 0 || (op === 'or' && bounds.length < all.length)) return undefined
    return covered(bounds.flat(), op === 'and' ? bounds.length : 1)
  }
  return { brand_id: bound('brand_id'), date: bound('date') }
}

/** Returns what at least so many of the ranges cover, as disjoint ranges. */
function covered(ranges: readonly Range[], times: number): readonly Range[] {
  const edges = ranges.flatMap(({ from, to }) => [
    { at: from, step: 1 },
    { at: to, step: -1 },
  ])
  edges.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : b.step - a.step))
  const result: Range[] = []
  let depth = 0
  let from = ''
  for (const { at, step } of edges) {
    if (step > 0 && depth === times - 1) from = at
    if (step < 0 && depth === times) result.push({ from, to: at })
    depth += step
  }
  return result
}

/** A comparison by `=`, `in`, `<` or `>`. Strict ones are read like the others: clients filter the value itself. */
type Comparison = { readonly op: string; readonly column: string; readonly values: readonly unknown[] }

const Ids = z.array(z.guid().check(z.toLowerCase()))

/** Days that the database can read. */
const Days = z.array(z.iso.date().check(z.refine((day) => day >= '0001')))

function boundsOf({ op, column, values }: Comparison): Bounds {
  if (values.length === 0 || (op !== 'in' && values.length > 1)) return {}
  const ranges = (schema: typeof Ids | typeof Days) => {
    const all = schema.safeParse(values).data?.map((value) => ({
      from: op === '<' ? '-infinity' : value,
      to: op === '>' ? 'infinity' : value,
    }))
    return all && covered(all, 1)
  }
  const name = column.toLowerCase()
  if (name === 'brand_id' && (op === '=' || op === 'in')) return { brand_id: ranges(Ids) }
  return name === 'date' ? { date: ranges(Days) } : {}
}

/** `date >= '2026-01-01'` or `brand_id in ('…', '…')`, also with `DATE '…'` or `CAST('…' AS DATE)`. Its time is linear. */
const LITERAL = `(?:date\\s*)?(?:cast\\s*\\(\\s*)?'[^']*'(?:\\s*as\\s+(?:date|string)\\s*\\))?`
const SQL = new RegExp(
  `^\\(?\\s*\`?(brand_id|date)\`?\\s*(=|in|<|>)=?\\s*(?:\\(\\s*)?(${LITERAL}(?:\\s*,\\s*${LITERAL})*)[\\s)]*$`,
  'i',
)

function boundsOfSql(hint: unknown): Bounds {
  const [, column, op, list] = typeof hint === 'string' ? (SQL.exec(hint) ?? []) : []
  if (column === undefined || op === undefined || list === undefined) return {}
  const values = [...list.matchAll(/'([^']*)'/g)].map(([, value]) => value)
  return boundsOf({ op: op.toLowerCase(), column, values })
}

const Node = z.object({ op: z.string(), children: z.array(z.unknown()) })
const Column = z.object({ op: z.literal('column'), name: z.string() })
const Literal = z.object({ op: z.literal('literal'), value: z.string() })

/** The comparisons of a tree, also with the literal before the column. */
const OPS: ReadonlyMap<string, readonly [string, string?]> = new Map([
  ['equal', ['=', '=']],
  ['in', ['in']],
  ['lessThan', ['<', '>']],
  ['lessThanOrEqual', ['<', '>']],
  ['greaterThan', ['>', '<']],
  ['greaterThanOrEqual', ['>', '<']],
])

function boundsOfTree(tree: unknown, levels: number): Bounds {
  const { op = '', children = [] } = Node.safeParse(tree).data ?? {}
  if (levels > 0 && (op === 'and' || op === 'or')) {
    const all = children.map((child) => boundsOfTree(child, levels - 1))
    return combine(op, all)
  }
  const isReversed = Literal.safeParse(children[0]).success
  const [first, ...others] = isReversed ? children.toReversed() : children
  const column = Column.safeParse(first).data?.name
  const values = others.map((other) => Literal.safeParse(other).data?.value)
  const comparison = OPS.get(op)?.[isReversed ? 1 : 0]
  return column === undefined || comparison === undefined ? {} : boundsOf({ op: comparison, column, values })
}

function parse(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}
