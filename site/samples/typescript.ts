import { camelCase } from '../../reference/camel-case.ts'
import { javascript, toCode } from '../../reference/formula.ts'
import { type Endpoint, isPaged, listsChanges } from '../../reference/reference.ts'
import { parametersOf, type SampleRequest, storingComment, tableOf, USER_AGENT } from './request.ts'
import { insertInto, sqliteColumns, sqliteDefinitions, wrapped } from './sqlite.ts'

/** Writes a program for Node 22.18 or later, Deno and Bun that uses the TypeScript client. */
export function typescript(request: SampleRequest): string {
  const { origin, endpoint } = request
  const types = isPaged(endpoint) ? `, type Page, type ${rowType(endpoint)}` : ''
  return `// Requires Node 22.18, Deno 2.2 or Bun 1.4, or later.
// In the repository, run npm pack -w connectors/typescript. Copy the file here:
// npm install ./export-api-client-1.0.0.tgz
// Save as pull.mts, then run: node pull.mts
import { DatabaseSync } from 'node:sqlite'
import { ExportApi${types} } from 'export-api-client'

const api = new ExportApi({
  baseUrl: ${text(origin)},
  apiKey: process.env.EXPORT_API_KEY ?? '', // svc_live_…
  // ${USER_AGENT.comment}
  userAgent: '${USER_AGENT.value}',
})
${isPaged(endpoint) ? pull(request) : 'const rows = await api.brands()'}

${store(endpoint)}
console.log(rows.length, 'rows')
${printResult(request)}`.trimEnd()
}

function pull(request: SampleRequest): string {
  const { endpoint } = request
  const method = listsChanges(endpoint) ? 'changedDays' : camelCase(endpoint.id)
  const entries = parametersOf(request).map(([name, value]) => `  ${name}: ${text(value)},`)
  return `const WINDOW = {
${entries.join('\n')}
}

// Follows nextCursor. Retries dropped connections, 429 and 503.
const pages: Page<${rowType(endpoint)}>[] = []
for await (const page of api.${method}.pages(WINDOW)) pages.push(page)
const rows = pages.flatMap((page) => page.rows)
const [{ meta }] = pages`
}

/** The client's name of a row. */
const rowType = (endpoint: Endpoint): string => (listsChanges(endpoint) ? 'ChangedDay' : endpoint.rowName)

/** Values that SQLite does not store, converted. */
const VALUES: Readonly<Record<string, (value: string) => string>> = {
  boolean: (value) => `Number(${value})`,
  object: (value) => `JSON.stringify(${value})`,
}

function store(endpoint: Endpoint): string {
  const table = tableOf(endpoint)
  const paged = isPaged(endpoint)
  const values = endpoint.fields.map(({ name, type }) => {
    const value = `row.${listsChanges(endpoint) ? camelCase(name) : name}`
    return VALUES[type]?.(value) ?? value
  })
  const remove = paged
    ? `
db.prepare(
  'DELETE FROM ${table} WHERE brand_id = ? AND date BETWEEN ? AND ?',
).run(brandId, meta.fromDate.slice(0, 10), meta.toDate.slice(0, 10))`
    : `
db.exec('DELETE FROM ${table}')`
  return `${storingComment(endpoint, '//')}${paged ? '\nconst { brandId } = meta' : ''}
const db = new DatabaseSync('export.db')
db.exec(\`CREATE TABLE IF NOT EXISTS ${table} (
${wrapped(sqliteDefinitions(endpoint), '  ')}
)\`)
db.exec('BEGIN')${listsChanges(endpoint) ? '' : remove}
const insert = db.prepare(
  '${insertInto(endpoint)} (${sqliteColumns(endpoint)
    .map(() => '?')
    .join(', ')})',
)
for (const row of rows) {
  insert.run(
${wrapped([...(paged ? ['brandId'] : []), ...values], '    ')},
  )
}
db.exec('COMMIT')`
}

function printResult({ endpoint: { formula, rowName, summary } }: SampleRequest): string {
  if (formula === undefined) return ''
  const { part, whole, per } = formula
  const sides = (rows: string, indent: string) => `${indent}const part = ${toCode(part, javascript(rows))}
${indent}const whole = ${toCode(whole, javascript(rows))}`
  const value = 'whole === 0 ? null : (part / whole) * 100'
  const results =
    per === undefined
      ? `${sides('rows', '')}
console.log(${value})`
      : `for (const name of new Set(rows.map((row) => row.${per}))) {
  const group = rows.filter((row) => row.${per} === name)
${sides('group', '  ')}
  console.log(name, ${value})
}`
  return `
// ${summary}: sum over the window, then divide.
const sum = (rows: ${rowName}[], term: (row: ${rowName}) => number) =>
  rows.reduce((total, row) => total + term(row), 0)
${results}
`
}

const text = (value: string): string => `'${value.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`
