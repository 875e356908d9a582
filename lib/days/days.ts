import { authorize, requireKeyHash } from '../access/access.ts'
import type { Plan } from '../access/plans.ts'
import { databaseError, type Row, runPrepared } from '../database/db.ts'
import type { Result } from '../http/app.ts'
import type { DocumentedWorker, Operation } from '../page/operation.ts'
import { nextLink } from '../page/page.ts'
import { dataEndpoint, type Parameters, parseParameters } from '../page/request.ts'
import type { RequestContext } from '../request/context.ts'
import { httpError, PARAMETER_ERRORS, parameterError } from '../request/errors.ts'
import { fieldNames, fieldsOf, type RowSchema } from '../rows/schema.ts'
import { PAGE, PAGE_SIZE, type Size } from '../rows/size.ts'
import { rowWriter } from '../rows/write.ts'
import { AFTER_TIMES } from '../statement/page-statement.ts'
import { EVERY_DAY, resolveWindow, windowByPlan, withDefaults } from '../statement/window.ts'
import { columnReader, required, toCount, toFlag } from '../statement/wire.ts'
import { type Position, readCursor, START, writeCursor } from './cursor.ts'
import { type DayRows, dayRowsOf, daysStatement, sentDay } from './statement.ts'

/** Milliseconds after which a run that follows another is followed by one more, when data changed meanwhile. */
const LONGEST_RUN_MS = 60_000

/** The beginning of a run that another follows at once. */
const LONG_AGO = new Date(0).toISOString()

export type Days = Omit<Operation, 'kind'> & {
  readonly metrics: readonly DocumentedWorker[]
  /** The most days and rows of a page, and the most bytes of its rows as JSON. */
  readonly size?: Size
}

/** A valid request. */
type DaysRequest = { readonly parameters: Parameters; readonly position: Position }

/** Builds the Worker of the days of all metrics. `row` has the fields of a day that stand before its rows. */
export function days({ metrics, size = PAGE, ...operation }: Days): DocumentedWorker {
  const { path, row } = operation
  const sources = metrics.flatMap(({ rows }) => (rows === undefined ? [] : [dayRowsOf(rows)]))
  const statement = daysStatement(sources, row, size)
  const readDays = daysReader(row, sources)

  async function parse({ req }: RequestContext): Promise<DaysRequest> {
    const parameters = parseParameters(new URL(req.url).searchParams, 'days')
    const { cursor, since = '' } = parameters
    if (!sources.some(({ endpoint }) => endpoint === (parameters.endpoint ?? endpoint)))
      throw parameterError(PARAMETER_ERRORS.endpoint)
    const position =
      cursor === undefined
        ? { ...START, since, timed: since && 'true' }
        : await readCursor(cursor, parameters)
    if (position === null) throw parameterError(PARAMETER_ERRORS.cursor)
    return { parameters, position }
  }

  async function handler(context: RequestContext, { parameters, position }: DaysRequest): Promise<Result> {
    const { env, now, log } = context.var
    const windowOf = (plan: Plan) => resolveWindow(withDefaults(parameters, EVERY_DAY), plan, now)
    const result = await runPrepared({ env, log }, statement, {
      ...position,
      list: position.organization === '' ? null : position.list,
      key_hash: requireKeyHash(context),
      now: now.toISOString(),
      window_by_plan: windowByPlan(windowOf),
      only_brand: parameters.brandId ?? null,
      only_endpoint: parameters.endpoint ?? null,
    })
    const row = authorize(result, log)
    if (position.organization !== '' && position.organization !== row.organization_id)
      throw parameterError(PARAMETER_ERRORS.cursor)
    if (row.is_known !== 'true') throw httpError('brand')
    try {
      const page = readDays(row)
      const { next, hasMore } = nextPosition({ row, position, page, now })
      const nextCursor = await writeCursor(next, parameters)
      const link = hasMore
        ? nextLink(new URL(context.req.url), { ...parameters, since: undefined, cursor: nextCursor })
        : {}
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
    fetch: dataEndpoint({ path, parse, handler }).fetch,
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
  /** The cells of the first and the last day. */
  readonly first: Row
  readonly last: Row
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
    const columns = readDays(result, toCount(result.sent))
    const cellsOf = (name: string) =>
      columns.find((column) => column.name === name)?.cells.map(required) ?? []
    const [endpoints, dates, parts] = [cellsOf('endpoint'), cellsOf('date'), cellsOf('part').map(Number)]
    const writers = new Map(
      metrics.map((metric) => {
        const cells = dates.flatMap((date, day) =>
          endpoints[day] === metric.endpoint ? Array<string>(parts[day] ?? 0).fill(date) : [],
        )
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
      const json = writer.write(writer.next, rows, ',')
      writer.next += rows
      return `${writeDay(day, 1, '').slice(0, -1)},"rows":[${json}]}`
    })
    const dayAt = (index: number): Row =>
      Object.fromEntries(columns.map(({ name, cells }) => [name, cells.at(index) ?? null]))
    return { data, rows: parts.reduce((total, rows) => total + rows, 0), first: dayAt(0), last: dayAt(-1) }
  }
}

type Step = {
  readonly row: Row & { readonly organization_id: string }
  readonly position: Position
  readonly page: DaysPage
  readonly now: Date
}

/** Returns where the reader is after a page, and whether another follows at once. */
function nextPosition({ row, position, page, now }: Step): { next: Position; hasMore: boolean } {
  const [first, until] = [required(row.first), required(row.until)]
  const run = toFlag(row.restarts) ? START : position
  const reach = run.reach > first ? run.reach : first
  const start = run.until === '' ? now.toISOString() : run.began
  const reader = {
    ...START,
    organization: row.organization_id,
    list: required(row.list),
    timed: position.timed,
  }
  const { brand_id, changed_at, endpoint, date, offset, part, row_count } = page.last
  const sent = Number(offset) + Number(part)
  const isPart = sent < Number(row_count)
  // The day of which the copy has a part has changed: this run need not complete it, but another follows.
  const began = run.offset !== '0' && (page.first.offset ?? '0') === '0' ? LONG_AGO : start
  if (isPart || toFlag(row.has_more)) {
    // Of days of a brand that change while it is read, a page is sent. The next run has the others, so that this one ends.
    const isEnough = required(changed_at) > until && (!isPart || began === LONG_AGO)
    const day = {
      brand_id: required(brand_id),
      changed_at: isEnough ? AFTER_TIMES : required(changed_at),
      endpoint: required(endpoint),
      date: required(date),
    }
    const rest = isPart && !isEnough ? { offset: String(sent), key: required(row.last_key) } : {}
    const { since, had, follows } = run
    return { next: { ...reader, since, had, until, reach, began, follows, ...day, ...rest }, hasMore: true }
  }
  // What changed in a run of several pages, and days that a plan added meanwhile, come in a run that follows at once. A run
  // that follows is not followed, unless it was long: writes do not keep a reader for ever.
  const isLong = now.getTime() - Date.parse(began) > LONGEST_RUN_MS
  const isPaged = run.until !== '' && run.follows === ''
  const hasMore = ((isLong || isPaged) && (row.clock ?? '') > until) || first < reach
  return { next: { ...reader, since: until, had: reach, follows: hasMore ? 'true' : '' }, hasMore }
}
