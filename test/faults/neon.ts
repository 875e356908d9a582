import { setTimeout as delay } from 'node:timers/promises'
import { answering, type Fault, reshaping } from './fault.ts'

/** What Postgres refuses statements with. */
const SQLSTATES = [
  ...'08006 08P01 25006 28P01 3D000 40001 40P01 42501 42P01 53100 53200 53300 55P03 57014'.split(' '),
  ...['57P01', '57P02', '57P03', '58030', 'XX000', ''],
]

const NO_FIELDS = {
  ...{ code: '', severity: '', detail: null, hint: null, position: null, internalPosition: null },
  ...{ internalQuery: null, where: null, table: null, column: null, schema: null, dataType: null },
  ...{ constraint: null, file: null, line: null, routine: null },
}

/** An error with the 17 fields that Neon always sends. */
const refused = (status: number, fields: Record<string, string>): Response =>
  Response.json({ ...NO_FIELDS, ...fields }, { status })

const ofPostgres = (code: string): Response =>
  refused(400, {
    message: 'secret detail in select key_hash from api_keys',
    code,
    severity: 'FATAL',
    detail: 'secret detail',
    where: 'select',
    routine: 'ProcessInterrupts',
  })

/** Neon's own errors. */
const OF_NEON: readonly (readonly [status: number, message: string, code?: string])[] = [
  [400, "password authentication failed for user 'secret detail'"],
  [400, 'query_wait_timeout', '08P01'],
  [500, 'Too many connections to this endpoint. Please try again later.'],
  [500, 'sorry, too many clients already', '53300'],
  [500, 'Control plane request failed: endpoint is disabled'],
  [500, 'error communicating with the server: Connection reset by peer (os error 104)'],
  [507, 'response is too large (max is 10485760 bytes)'],
]

/** Neon's proxy tries for this time to reach a compute that restarts. */
const COMPUTE_WAIT_MS = 3_000

const RESTARTS: readonly Fault[] = [
  {
    name: 'reaches its restarted compute at the last attempt',
    harmless: true,
    strike: async (genuine) => {
      await delay(COMPUTE_WAIT_MS)
      return genuine()
    },
  },
  {
    name: 'does not reach its compute',
    strike: async () => {
      await delay(COMPUTE_WAIT_MS)
      return refused(500, { message: "Couldn't connect to compute node" })
    },
  },
]

type Row = readonly unknown[]

const members = (body: unknown): Record<string, unknown> =>
  typeof body === 'object' && body !== null ? { ...body } : {}

const without = (name: string): Fault =>
  reshaping(`leaves out ${name}`, (body) => {
    const { [name]: _, ...rest } = members(body)
    return rest
  })

const replacing = (name: string, as: string, value: unknown): Fault =>
  reshaping(`gives ${as} for ${name}`, (body) => ({ ...members(body), [name]: value }))

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const overRows = (name: string, change: (rows: readonly Row[]) => readonly unknown[]): Fault =>
  reshaping(name, (body) => {
    const whole = members(body)
    return { ...whole, rows: change(list(whole.rows).map(list)) }
  })

const everyRow = (name: string, change: (row: Row) => unknown): Fault =>
  overRows(name, (rows) => rows.map(change))

const everyCell = (name: string, change: (cell: unknown) => unknown): Fault =>
  everyRow(name, (row) => row.map(change))

/** Replaces the cell of a column in each row. */
const cell = (column: string, as: string, change: (cell: string) => unknown): Fault =>
  reshaping(`gives ${as} for ${column}`, (body) => {
    const { fields, rows, ...rest } = members(body)
    const index = list(fields).findIndex((field) => members(field).name === column)
    const changed = list(rows).map((row) =>
      list(row).map((value, at) => (at === index ? change(String(value)) : value)),
    )
    return { ...rest, fields, rows: changed }
  })

/** Responses of Neon's protocol: failed statements, and results of another shape. */
export const NEON_FAULTS: readonly Fault[] = [
  ...SQLSTATES.map((code) => answering(`refuses with SQLSTATE "${code}"`, () => ofPostgres(code))),
  ...OF_NEON.map(([status, message, code = '']) =>
    answering(`answers ${status} "${message}"`, () => refused(status, { message, code })),
  ),
  ...RESTARTS,
  ...['rows', 'fields'].flatMap((name) => [
    without(name),
    replacing(name, 'null', null),
    replacing(name, 'a text', 'secret detail'),
    replacing(name, 'an object', {}),
    replacing(name, 'a number', 7),
    replacing(name, 'nulls', [null, null]),
    replacing(name, 'objects', [{}, {}]),
  ]),
  replacing('fields', 'nothing', []),
  reshaping('wraps the result', (body) => ({ results: [body] })),
  overRows('loses every row', () => []),
  overRows('loses the last row', (rows) => rows.slice(0, -1)),
  overRows('loses the first row', (rows) => rows.slice(1)),
  overRows('doubles its rows', (rows) => [...rows, ...rows]),
  everyRow('gives nulls for rows', () => null),
  everyRow('gives texts for rows', (row) => JSON.stringify(row)),
  everyRow('gives objects for rows', (row) => ({ ...row })),
  everyRow('gives rows without cells', () => []),
  everyRow('gives rows that are too short', (row) => row.slice(0, -1)),
  everyRow('gives rows that are too wide', (row) => [...row, null]),
  everyRow('gives rows that are too wide by a text', (row) => [...row, 'secret detail']),
  overRows('gives a last row that is too short', (rows) => [
    ...rows.slice(0, -1),
    ...rows.slice(-1).map((row) => row.slice(0, -1)),
  ]),
  everyCell('gives numbers for cells', () => 7),
  everyCell('gives booleans for cells', () => false),
  everyCell('gives objects for cells', (cell) => ({ cell })),
  everyCell('gives lists for cells', (cell) => [cell]),
  everyCell('gives nulls for cells', () => null),
  ...['found', 'has_more'].flatMap((column) => [
    cell(column, 'null', () => null),
    cell(column, 'nothing', () => ''),
    cell(column, 'a sentence', () => 'secret detail'),
    cell(column, 'a list', () => '[]'),
  ]),
  cell('found', 'another number', (found) => String(Number(found) + 1)),
  cell('cells_date', 'null', () => null),
  cell('cells_date', 'one more', (dates) => `${dates},2026-10-01`),
]
