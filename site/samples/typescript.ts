import { javascript, write } from '../formula.ts'
import { type Endpoint, type Field, isPaged } from '../reference.ts'
import { parametersOf, type RequestContext } from './request.ts'

/** A program for Node 22.18 or later, Deno and Bun, without a library. */
export function typescript(asked: RequestContext): string {
  const { origin, endpoint } = asked
  const paged = isPaged(endpoint)
  const given = parametersOf(asked).map(([name, value]) => `${name}: ${text(value)}`)
  return `// For Node 22.18 or later, Deno or Bun: save it as pull.mts, and run node pull.mts.
const ADDRESS = ${text(origin + endpoint.path)}
const KEY = process.env.EXPORT_API_KEY ?? '' // svc_live_…

${types(endpoint, paged)}

/** One answer; 429 and 503 are asked again after Retry-After seconds. */
async function get(parameters: Record<string, string>): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const query = new URLSearchParams(parameters)
    const answer = await fetch(\`\${ADDRESS}?\${query}\`, { headers: { 'X-API-Key': KEY } })
    if (answer.ok) return (await answer.json()) as Answer
    if ((answer.status !== 429 && answer.status !== 503) || attempt === 10) {
      throw new Error(\`\${answer.status}: \${await answer.text()}\`)
    }
    const seconds = Number(answer.headers.get('Retry-After'))
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  }
}
${paged ? PAGES.replaceAll('Row', endpoint.rowName) : ''}
${
  paged
    ? `const rows: ${endpoint.rowName}[] = []
const parameters = {
${given.map((each) => `  ${each},`).join('\n')}
}
for await (const row of pull(parameters)) rows.push(row)`
    : 'const { data: rows } = await get({})'
}
console.log(rows.length, 'rows')
${figure(asked)}
export {}`.replace(/\n\n+export/, '\n\nexport')
}

const PAGES = `
/** Every row of the window, page after page until hasMore is false. */
async function* pull(parameters: Record<string, string>): AsyncGenerator<Row> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { data, pagination }: Answer = await get({ ...parameters, ...(cursor && { cursor }) })
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
type Answer = {
  data: ${rowName}[]${pagination}
}`
}

const TYPES: Readonly<Record<string, string>> = { integer: 'number', number: 'number', boolean: 'boolean' }

const typeOf = ({ type, nullable }: Field): string => (TYPES[type] ?? 'string') + (nullable ? ' | null' : '')

function figure({ endpoint: { formula, rowName, summary } }: RequestContext): string {
  if (formula === undefined) return ''
  const { part, whole, per } = formula
  const sides = (rows: string, indent: string) => `${indent}const part = ${write(part, javascript(rows))}
${indent}const whole = ${write(whole, javascript(rows))}`
  const value = 'whole === 0 ? null : (part / whole) * 100'
  const figures =
    per === undefined
      ? `${sides('rows', '')}
console.log(${value})`
      : `for (const name of new Set(rows.map((row) => row.${per}))) {
  const its = rows.filter((row) => row.${per} === name)
${sides('its', '  ')}
  console.log(name, ${value})
}`
  return `
// ${summary} of the window: add up, then divide.
const sum = (rows: ${rowName}[], of: (row: ${rowName}) => number) =>
  rows.reduce((total, row) => total + of(row), 0)
${figures}
`
}

const text = (value: string): string => `'${value.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`
