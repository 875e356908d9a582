import { accessErrorsFirst, authorize, requireKeyHash } from '../access/authorize.ts'
import type { Plan } from '../access/plans.ts'
import { databaseError, type Row, runPrepared } from '../database/db.ts'
import type { Result } from '../http/app.ts'
import { endpoint } from '../http/endpoint.ts'
import type { DocumentedWorker, Operation } from '../page/operation.ts'
import { parseParameters } from '../page/parameters.ts'
import { nextLink } from '../page/respond.ts'
import { dayOf, EVERY_DAY, resolveWindow, withDefaults } from '../page/window.ts'
import { windowByPlan } from '../page/window-by-plan.ts'
import type { RequestContext } from '../request/context.ts'
import { httpError, PARAMETER_ERRORS, parameterError } from '../request/errors.ts'
import { columnReader, required, toCount, toFlag } from '../rows/columns.ts'
import { fieldNames, fieldsOf, type RowSchema } from '../rows/schema.ts'
import { PAGE, PAGE_SIZE, type Size } from '../rows/size.ts'
import { rowWriter } from '../rows/write.ts'
import { type Position, readCursor, START, writeCursor } from './cursor.ts'
import { type DayRows, dayRowsOf, daysStatement, fetchedOf, sentDay } from './statement.ts'

/** Milliseconds after which the start of a run is no longer its end: when data changed meanwhile, a run follows at once. */
const LONGEST_RUN_MS = 60_000

export type Days = Omit<Operation, 'kind'> & {
  readonly metrics: readonly DocumentedWorker[]
  /** The most days and rows of a page, and the most bytes of its rows as JSON. */
  readonly size?: Size
}

/** Builds the Worker of the days of all metrics. `row` has the fields of a day that stand before its rows. */
export function days({ metrics, size = PAGE, ...operation }: Days): DocumentedWorker {
  const { path, row } = operation
  const sources = metrics.flatMap(({ rows }) => (rows === undefined ? [] : [dayRowsOf(rows)]))
  const statement = daysStatement(sources, row, size)
  const readDays = daysReader(row, sources)

  async function handler(context: RequestContext): Promise<Result> {
    const { env, now, log } = context.var
    const key_hash = requireKeyHash(context)
    const url = new URL(context.req.url)
    const { parameters, position } = await accessErrorsFirst(context, async () => {
      const parameters = parseParameters(url.searchParams, 'days')
      const { cursor, since = '' } = parameters
      if (!sources.some(({ endpoint }) => endpoint === (parameters.endpoint ?? endpoint)))
        throw parameterError(PARAMETER_ERRORS.endpoint)
      const position = cursor === undefined ? { ...START, since } : await readCursor(cursor, parameters)
      if (position === null) throw parameterError(PARAMETER_ERRORS.cursor)
      return { parameters, position }
    })
    const windowOf = (plan: Plan) => resolveWindow(withDefaults(parameters, EVERY_DAY), plan, now)
    const result = await runPrepared({ env, log }, statement, {
      ...position,
      list: position.organization === '' ? null : position.list,
      key_hash,
      now: now.toISOString(),
      window_by_plan: windowByPlan(windowOf),
      brand_id: parameters.brandId ?? null,
      only: parameters.endpoint ?? null,
    })
    const row = authorize(result, log)
    if (position.organization !== '' && position.organization !== row.organization_id)
      throw parameterError(PARAMETER_ERRORS.cursor)
    if (row.is_known !== 'true') throw httpError('brand')
    try {
      const page = readDays(row)
      const { next, hasMore } = nextPosition({ row, position, page, now })
      const nextCursor = await writeCursor(next, parameters)
      const link = hasMore ? nextLink(url, { ...parameters, since: undefined, cursor: nextCursor }) : {}
      const pagination = { pageSize: PAGE_SIZE, hasMore, nextCursor }
      const meta = {
        brandId: parameters.brandId ?? null,
        fromDate: `${windowOf(row.plan).first}T00:00:00.000Z`,
        plan: row.plan,
      }
      return {
        body: `{"data":[${page.data.join(',\n')}],"pagination":${JSON.stringify(pagination)},"meta":${JSON.stringify(meta)}}`,
        headers: { ...(row.as_of != null && { 'X-Data-As-Of': row.as_of }), ...link },
        rows: page.rows,
        cacheable: false,
      }
    } catch (error) {
      throw databaseError(error, log)
    }
  }

  return {
    fetch: endpoint({ path, handler }).fetch,
    operation: { ...operation, kind: 'days' },
    statements: { page: statement },
  }
}

/** A page of days. */
type DaysPage = {
  /** Each day as JSON. */
  readonly data: readonly string[]
  /** Number of their rows. */
  readonly rows: number
  /** The last day, and the number of its rows that were sent so far. Null without days. */
  readonly last: (Pick<Position, 'brand' | 'changed_at' | 'endpoint' | 'date'> & { readonly sent: number; readonly of: number }) | null
}

/** Returns a function that reads the days of a result. It throws `TypeError` for an incomplete one. */
function daysReader(row: RowSchema, sources: readonly DayRows[]) {
  const readDays = columnReader(fieldsOf(sentDay(row)))
  const metrics = sources.map((source) => ({
    ...source,
    names: fieldNames(source.rows.row),
    read: columnReader(fieldsOf(source.sent), source.prefix),
  }))
  return (result: Row): DaysPage => {
    const count = toCount(result.sent)
    const columns = readDays(result, count)
    const cellsOf = (name: string) => columns.find((column) => column.name === name)?.cells.map(required) ?? []
    const [brands, endpoints, dates] = [cellsOf('brand_id'), cellsOf('endpoint'), cellsOf('date')]
    const parts = cellsOf('part').map(Number)

    const writers = new Map(
      metrics.map((metric) => {
        const cells = dates.flatMap((date, day) =>
          endpoints[day] === metric.endpoint ? Array<string>(parts[day] ?? 0).fill(date) : [],
        )
        if (cells.length !== toCount(result[fetchedOf(metric)])) throw new TypeError('Rows of a day are missing')
        const sent = metric.read(result, cells.length)
        const date = { name: 'date', isQuoted: true, isPlain: true, cells }
        const all = metric.names.map((name) => sent.find((column) => column.name === name) ?? date)
        return [metric.endpoint, { write: rowWriter(all), next: 0 }]
      }),
    )
    const writeDay = rowWriter(columns.filter(({ name }) => name !== 'part'))
    const data = parts.map((rows, day) => {
      const writer = writers.get(endpoints[day] ?? '')
      if (writer === undefined) throw new TypeError('A day is of no metric')
      const from = writer.next
      writer.next += rows
      return `${writeDay(day, 1, '').slice(0, -1)},"rows":[${writer.write(from, rows, ',')}]}`
    })
    const day = count - 1
    return {
      data,
      rows: parts.reduce((total, rows) => total + rows, 0),
      last:
        count === 0
          ? null
          : {
              brand: required(brands[day]),
              changed_at: required(cellsOf('changed_at')[day]),
              endpoint: required(endpoints[day]),
              date: required(dates[day]),
              sent: Number(cellsOf('offset')[day]) + (parts[day] ?? 0),
              of: Number(cellsOf('row_count')[day]),
            },
    }
  }
}

type Step = { readonly row: Row & { readonly organization_id: string }; readonly position: Position; readonly page: DaysPage; readonly now: Date }

/** Returns where the reader is after a page, and whether another follows at once. */
function nextPosition({ row, position, page: { data, last }, now }: Step): { next: Position; hasMore: boolean } {
  const first = required(row.first)
  const restarts = toFlag(row.restarts)
  const run = restarts ? START : position
  const until = required(row.until)
  const reach = run.reach > first ? run.reach : first
  const began = run.until === '' ? now.toISOString() : run.began
  const reader = { ...START, organization: row.organization_id, list: required(row.list) }
  const isPart = last !== null && last.sent < last.of
  if (last !== null && (isPart || toCount(row.listed) > data.length)) {
    const { sent, of: _, ...day } = last
    const part = isPart && { offset: String(sent), key: required(row.last_key) }
    const { since, had } = run
    return { next: { ...reader, since, had, until, reach, began, ...day, ...part }, hasMore: true }
  }
  // What changed in a long run, and days that a plan added meanwhile, come in a run that follows at once.
  const isOld = now.getTime() - Date.parse(began) > LONGEST_RUN_MS && (row.clock ?? '') > until
  return { next: { ...reader, since: until, had: reach }, hasMore: isOld || first < dayBefore(reach) }
}

/** The day before another. */
const dayBefore = (date: string): string => dayOf(new Date(Date.parse(date) - 86_400_000))
