/** What the files of a query must overlap: brands, and days as `YYYY-MM-DD`. Undefined is no bound. */
export type Bounds = {
  readonly brandIds?: readonly string[]
  readonly from?: string
  readonly to?: string
}

/** A comparison of a column with literals. */
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

const DAY = /^\d{4}-\d{2}-\d{2}$/

const later = (a: string | undefined, b: string): string => (a !== undefined && a > b ? a : b)
const earlier = (a: string | undefined, b: string): string => (a !== undefined && a < b ? a : b)

function narrow(bounds: Bounds, { column, operator, values }: Comparison): Bounds {
  if (column === 'brand_id' && (operator === '=' || operator === 'in')) {
    const ids = values.map((value) => value.toLowerCase())
    const { brandIds = ids } = bounds
    return { ...bounds, brandIds: brandIds.filter((id) => ids.includes(id)) }
  }
  const [day = ''] = values
  if (column !== 'date' || values.length !== 1 || !DAY.test(day)) return bounds
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
const SQL_LIST = /^\(?\s*`?(brand_id)`?\s+in\s*\(\s*('[^']*'(?:\s*,\s*'[^']*')*)\s*\)\s*\)?$/i

function sqlComparisons(hints: unknown): Comparison[] {
  if (!Array.isArray(hints)) return []
  return hints.flatMap((hint): Comparison[] => {
    const [, column, operator, value] = SQL_COMPARISON.exec(String(hint)) ?? []
    if (column !== undefined && operator !== undefined && value !== undefined)
      return [{ column: column.toLowerCase(), operator, values: [value] }]
    const [, listed, list] = SQL_LIST.exec(String(hint)) ?? []
    if (listed === undefined || list === undefined) return []
    return [
      {
        column: listed.toLowerCase(),
        operator: 'in',
        values: list.split(',').map((text) => text.trim().slice(1, -1)),
      },
    ]
  })
}

const OPERATORS: Readonly<Record<string, string>> = {
  equal: '=',
  lessThan: '<',
  lessThanOrEqual: '<=',
  greaterThan: '>',
  greaterThanOrEqual: '>=',
  in: 'in',
}

/** A node of the protocol's predicate trees. */
type Node = {
  readonly op?: unknown
  readonly children?: unknown
  readonly name?: unknown
  readonly value?: unknown
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null

function jsonComparisons(node: unknown): Comparison[] {
  if (!isNode(node) || !Array.isArray(node.children)) return []
  if (node.op === 'and') return node.children.flatMap(jsonComparisons)
  const operator = OPERATORS[String(node.op)]
  const [column, ...literals]: unknown[] = node.children
  if (operator === undefined || !isNode(column) || column.op !== 'column') return []
  const values = literals.flatMap((literal) =>
    isNode(literal) && literal.op === 'literal' && typeof literal.value === 'string' ? [literal.value] : [],
  )
  if (values.length !== literals.length) return []
  return [{ column: String(column.name), operator, values }]
}

function parse(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}
