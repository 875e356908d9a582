import { javascript, toCode } from '../formula.ts'
import { type Endpoint, type Field, isPaged, listsChanges } from '../reference.ts'
import { parametersOf, type SampleRequest, storingComment, tableOf, USER_AGENT } from './request.ts'
import { insertInto, sqliteColumns, sqliteDefinitions, wrapped } from './sqlite.ts'

/** Writes a program for Node 22.18 or later, Deno and Bun that needs no library. */
export function typescript(request: SampleRequest): string {
  const { origin, endpoint } = request
  const paged = isPaged(endpoint)
  const entries = parametersOf(request).map(([name, value]) => `  ${name}: ${text(value)},`)
  return `// Requires Node 22.18, Deno 2.2 or Bun 1.4, or later.
// Save as pull.mts, then run: node pull.mts
import { DatabaseSync } from 'node:sqlite'

const ADDRESS = ${text(origin + endpoint.path)}
const HEADERS = {
  'X-API-Key': process.env.EXPORT_API_KEY ?? '', // svc_live_…
  // ${USER_AGENT.comment}
  'User-Agent': '${USER_AGENT.value}',
}${paged ? `\nconst WINDOW = {\n${entries.join('\n')}\n}` : ''}

${types(endpoint)}

/** Returns one response. Retries dropped connections, 429 and 503. */
async function get(parameters: Record<string, string>): Promise<Body> {
  const address = \`\${ADDRESS}?\${new URLSearchParams(parameters)}\`
  let problem: unknown
  for (let attempt = 1; attempt <= 10; attempt += 1) {
    let seconds = attempt
    try {
      const signal = AbortSignal.timeout(60_000)
      const response = await fetch(address, { headers: HEADERS, signal })
      if (response.ok) return (await response.json()) as Body
      problem = new Error(\`\${response.status}: \${await response.text()}\`)
      if (response.status !== 429 && response.status !== 503) break
      seconds = Number(response.headers.get('Retry-After') ?? attempt)
    } catch (error) {
      problem = error
    }
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  }
  throw problem
}

${paged ? PAGES : 'const { data: rows } = await get({})'}

${store(endpoint)}
console.log(rows.length, 'rows')
${printResult(request)}`.trimEnd()
}

const PAGES = `// Follow nextCursor until hasMore is false.
let page = await get(WINDOW)
const { data: rows, meta } = page
while (page.pagination.hasMore) {
  page = await get({ ...WINDOW, cursor: page.pagination.nextCursor })
  rows.push(...page.data)
}`

const PAGE_TYPES = `
  pagination: { hasMore: true; nextCursor: string } | { hasMore: false }
  meta: { brandId: string; fromDate: string; toDate: string }`

function types(endpoint: Endpoint): string {
  const { rowName, fields } = endpoint
  return `type ${rowName} = {
${fields.map((field) => `  ${field.name}: ${typeOf(field)}`).join('\n')}
}
type Body = {
  data: ${rowName}[]${isPaged(endpoint) ? PAGE_TYPES : ''}
}`
}

/** Values that SQLite does not store, converted. */
const VALUES: Readonly<Record<string, (value: string) => string>> = {
  boolean: (value) => `Number(${value})`,
  object: (value) => `JSON.stringify(${value})`,
}

function store(endpoint: Endpoint): string {
  const table = tableOf(endpoint)
  const paged = isPaged(endpoint)
  const values = endpoint.fields.map(({ name, type }) => VALUES[type]?.(`row.${name}`) ?? `row.${name}`)
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

const TYPES: Readonly<Record<string, string>> = {
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  object: 'Record<string, number>',
}

const typeOf = ({ type, nullable }: Field): string => (TYPES[type] ?? 'string') + (nullable ? ' | null' : '')

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
