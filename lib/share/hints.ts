import * as z from 'zod/mini'

/** What the files of a query must overlap: brands, and days as `YYYY-MM-DD`. Undefined is no bound. */
export type Bounds = {
  readonly brandIds?: readonly string[]
  readonly from?: string
  readonly to?: string
}

/** A comparison of a column with literals: `=` holds when the column equals one of them. */
type Comparison = { readonly column: string; readonly operator: string; readonly values: readonly string[] }

/**
 * Returns the bounds that the hints of a query set on `brand_id` and `date`. Reads comparisons that all must hold, and leaves
 * out the rest: a hint may only spare files, and clients filter again.
 */
export function readHints(body: Readonly<Record<string, unknown>>): Bounds {
  const comparisons = [
    ...sqlComparisons(body.predicateHints),
    ...jsonComparisons(parse(body.jsonPredicateHints)),
  ]
  return comparisons.reduce<Bounds>(narrow, {})
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A day that the database can read. */
const Day = z.iso.date().check(z.refine((day) => day >= '0001'))

const later = (a: string | undefined, b: string): string => (a !== undefined && a > b ? a : b)
const earlier = (a: string | undefined, b: string): string => (a !== undefined && a < b ? a : b)

function narrow(bounds: Bounds, { column, operator, values }: Comparison): Bounds {
  if (column === 'brand_id' && operator === '=') {
    const ids = new Set(values.map((value) => value.toLowerCase()))
    if (![...ids].every((id) => UUID.test(id))) return bounds
    const { brandIds = [...ids] } = bounds
    return { ...bounds, brandIds: brandIds.filter((id) => ids.has(id)) }
  }
  const [day = ''] = values
  if (column !== 'date' || !Day.safeParse(day).success) return bounds
  // Strict comparisons keep their day, which clients filter.
  const from = operator === '=' || operator.startsWith('>') ? { from: later(bounds.from, day) } : {}
  const to = operator === '=' || operator.startsWith('<') ? { to: earlier(bounds.to, day) } : {}
  return { ...bounds, ...from, ...to }
}

/** `date >= '2026-01-01'`, also with `DATE '…'` or `CAST('…' AS DATE)` on either side, or `brand_id IN ('…', '…')`. */
const LITERAL = `(?:date\\s*)?(?:cast\\s*\\(\\s*)?'([^']*)'(?:\\s*as\\s+(?:date|string)\\s*\\))?`
const SQL_COMPARISON = new RegExp(
  `^\\(?\\s*\`?(brand_id|date)\`?\\s*(=|<=|>=|<|>)\\s*${LITERAL}\\s*\\)?$`,
  'i',
)
const SQL_LIST = /^\(?\s*`?brand_id`?\s+in\s*\(\s*('[^']*'(?:\s*,\s*'[^']*')*)\s*\)\s*\)?$/i

function sqlComparisons(hints: unknown): Comparison[] {
  if (!Array.isArray(hints)) return []
  return hints.flatMap((hint): Comparison[] => {
    if (typeof hint !== 'string') return []
    const [, column, operator, value] = SQL_COMPARISON.exec(hint) ?? []
    if (column !== undefined && operator !== undefined && value !== undefined)
      return [{ column: column.toLowerCase(), operator, values: [value] }]
    const list = SQL_LIST.exec(hint)?.[1]
    if (list === undefined) return []
    const values = list.split(',').map((text) => text.trim().slice(1, -1))
    return [{ column: 'brand_id', operator: '=', values }]
  })
}

const OPERATORS: ReadonlyMap<unknown, string> = new Map([
  ['equal', '='],
  ['lessThan', '<'],
  ['lessThanOrEqual', '<='],
  ['greaterThan', '>'],
  ['greaterThanOrEqual', '>='],
])

/** A node of the protocol's predicate trees. */
type Node = {
  readonly op?: unknown
  readonly children?: unknown
  readonly name?: unknown
  readonly value?: unknown
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null

function jsonComparisons(root: unknown): Comparison[] {
  const comparisons: Comparison[] = []
  // Not recursive: a tree can be deeper than the stack.
  const nodes = [root]
  for (const node of nodes) {
    if (!isNode(node) || !Array.isArray(node.children)) continue
    if (node.op === 'and') for (const child of node.children) nodes.push(child)
    else comparisons.push(...jsonComparison(node.op, node.children))
  }
  return comparisons
}

function jsonComparison(op: unknown, [column, literal, ...others]: readonly unknown[]): Comparison[] {
  const operator = OPERATORS.get(op)
  if (operator === undefined || others.length > 0) return []
  if (!isNode(column) || column.op !== 'column' || typeof column.name !== 'string') return []
  if (!isNode(literal) || literal.op !== 'literal' || typeof literal.value !== 'string') return []
  return [{ column: column.name, operator, values: [literal.value] }]
}

function parse(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}
