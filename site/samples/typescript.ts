import { javascript, toCode } from '../formula.ts'
import { type Endpoint, type Field, isPaged } from '../reference.ts'
import { parametersOf, type SampleRequest } from './request.ts'

/** Writes a program for Node 22.18 or later, Deno and Bun that needs no library. */
export function typescript(request: SampleRequest): string {
  const { origin, endpoint } = request
  const paged = isPaged(endpoint)
  const entries = parametersOf(request).map(([name, value]) => `${name}: ${text(value)}`)
  return `// Requires Node 22.18 or later, Deno or Bun. Save as pull.mts, then run: node pull.mts
const ADDRESS = ${text(origin + endpoint.path)}
const KEY = process.env.EXPORT_API_KEY ?? '' // svc_live_…

${types(endpoint, paged)}

/** Returns one response. Retries 429 and 503 after Retry-After seconds. */
async function get(parameters: Record<string, string>): Promise<Body> {
  for (let attempt = 1; ; attempt += 1) {
    const query = new URLSearchParams(parameters)
    const response = await fetch(\`\${ADDRESS}?\${query}\`, { headers: { 'X-API-Key': KEY } })
    if (response.ok) return (await response.json()) as Body
    if ((response.status !== 429 && response.status !== 503) || attempt === 10) {
      throw new Error(\`\${response.status}: \${await response.text()}\`)
    }
    const seconds = Number(response.headers.get('Retry-After'))
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  }
}
${paged ? PAGES.replaceAll('Row', endpoint.rowName) : ''}
${
  paged
    ? `const rows: ${endpoint.rowName}[] = []
const parameters = {
${entries.map((entry) => `  ${entry},`).join('\n')}
}
for await (const row of pull(parameters)) rows.push(row)`
    : 'const { data: rows } = await get({})'
}
console.log(rows.length, 'rows')
${printResult(request)}
export {}`.replace(/\n\n+export/, '\n\nexport')
}

const PAGES = `
/** Yields all rows of the window: follows nextCursor until hasMore is false. */
async function* pull(parameters: Record<string, string>): AsyncGenerator<Row> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { data, pagination }: Body = await get({ ...parameters, ...(cursor && { cursor }) })
    yield* data
    cursor = pagination.hasMore ? pagination.nextCursor : null
  }
}
`

function types({ rowName, fields }: Endpoint, paged: boolean): string {
  const pagination = paged ? '\n  pagination: { hasMore: boolean; nextCursor: string | null }' : ''
  return `type ${rowName} = {
${fields.map((field) => `  ${field.name}: ${typeOf(field)}`).join('\n')}
}
type Body = {
  data: ${rowName}[]${pagination}
}`
}

const TYPES: Readonly<Record<string, string>> = { integer: 'number', number: 'number', boolean: 'boolean' }

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
