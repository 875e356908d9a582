import type { PgView } from 'drizzle-orm/pg-core'
import { getViewConfig, PgDialect } from 'drizzle-orm/pg-core'

/** A view's name and its defining query, in one line. */
export function definition(view: PgView): { readonly name: string; readonly query: string } {
  const { schema, name, query } = getViewConfig(view)
  if (query === undefined) throw new Error(`${name} has no query`)
  const { sql } = new PgDialect().sqlToQuery(query)
  return { name: `${schema}.${name}`, query: sql.replace(/\s+/g, ' ').trim() }
}

/** A word, number, text or sign of SQL, and where it begins. */
export type Token = { readonly text: string; readonly at: number }

const TOKEN = /'(?:[^']|'')*'|"[^"]*"|::|&&|\|\||>=|<=|<>|[a-z_][a-z0-9_.]*|\d+(?:\.\d+)?|\S/gi

export const tokensOf = (sql: string): Token[] =>
  [...sql.matchAll(TOKEN)].map(({ 0: text, index }) => ({ text, at: index }))

/**
 * Words that decide what a query counts; what is left of its words says what is read and what it is called. The columns of
 * a `group by` need no mutants: Postgres takes none of these views with one of them less.
 */
const DECIDING = new Set(
  'where and or not is null filter distinct on join left at time zone collate'.split(' '),
)

/** Words that something is called with, without which there is no SQL at all. */
const FORM = new Set(['as', 'from', 'known', 'unnest', 'lateral'])

/** Whether a token is one that some change must take away or replace: conditions, functions, constants, operators. */
export function isDeciding(tokens: readonly Token[], index: number): boolean {
  const [before = '', text = '', after = ''] = [-1, 0, 1].map((step) =>
    tokens[index + step]?.text.toLowerCase(),
  )
  if (text === 'join' && (before === 'cross' || before === 'left')) return false
  if (text === 'filter' || DECIDING.has(text)) return true
  if (/^[a-z_]/.test(text)) return after === '(' && !FORM.has(text)
  if (text === '*' && before === '(') return false
  return /^(?:'|\d|[=<>&|+*/-])/.test(text) || (text === '"c"' && before === 'collate')
}
