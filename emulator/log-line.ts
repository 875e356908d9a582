import { styleText } from 'node:util'

/** What a reader of a terminal does not look up. npm start -- --json prints it. */
const LEFT_OUT = new Set(['request_id', 'key_id', 'subrequests'])

/** Returns what a Worker has logged as a line to read: requests in short, other events with their fields. */
export function readableLine(line: string): string {
  const log = parseLog(line)
  if (log === undefined) return line
  const { event, ...fields } = log
  const { method, endpoint, status, outcome, rows, ms } = fields
  const count = typeof rows === 'number' ? [rows === 1 ? '1 row' : `${rows} rows`] : []
  const end = [...count, `${ms} ms`]
  if (event === 'file') return [event, endpoint, outcome, ...end].join(' ')
  if (event !== 'request') return [event, ...describe(fields)].join(' ')
  return [method, endpoint ?? 'unknown path', color(colorOf(Number(status)), String(status)), ...end].join(
    ' ',
  )
}

type Log = { readonly event: string; readonly [field: string]: unknown }

/** Returns what a Worker has logged; undefined for a line that is no event. */
export function parseLog(line: string): Log | undefined {
  try {
    const log = JSON.parse(line)
    return typeof log?.event === 'string' ? log : undefined
  } catch {
    return undefined
  }
}

const describe = (fields: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(fields)
    .filter(([name, value]) => value !== null && !LEFT_OUT.has(name))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)

function colorOf(status: number): 'green' | 'yellow' | 'red' {
  if (status < 400) return 'green'
  return status < 500 ? 'yellow' : 'red'
}

/** Colors a text where standard output is a terminal with colors; `NO_COLOR` switches them off. */
export const color = (format: Parameters<typeof styleText>[0], text: string): string =>
  process.stdout.isTTY && process.stdout.hasColors() ? styleText(format, text) : text
