import * as z from 'zod/mini'
import { accessErrorsFirst } from '../access/access.ts'
import type { Result } from '../http/app.ts'
import { endpoint } from '../http/endpoint.ts'
import type { App, RequestContext } from '../request/context.ts'
import type { Env } from '../request/env.ts'
import { PARAMETER_ERRORS, parameterError } from '../request/errors.ts'
import { secretsOf } from '../request/hash.ts'
import { FORMATS, isFile } from '../rows/write.ts'
import { lacksFromDate, type RequestedWindow, withDefaults } from '../statement/window.ts'
import { CURSOR, type CursorPosition, verifyCursor } from './cursor.ts'
import { rejectMisnamed } from './misnamed.ts'
import type { Operation } from './operation.ts'

const fromYear1 = z.refine<string>((text) => !text.startsWith('0000'))

const day = () => z.iso.date().check(fromYear1)

/** Date and time, decimals, and offset of an instant. */
const INSTANT = /^(.{19})(?:\.(\d{1,6}))?(Z|[+-].{5})$/

const LAST_SECOND = Date.UTC(9999, 11, 31, 23, 59, 59)

/** Returns an instant in UTC with microseconds, as `changed_at` has it. Its last second is that of the year 9999. */
function toMicroseconds(instant: string): string {
  const [, time = '', decimals = '', offset = ''] = INSTANT.exec(instant) ?? []
  const second = new Date(Math.min(Date.parse(time + offset), LAST_SECOND))
  return `${second.toISOString().slice(0, 19)}.${decimals.padEnd(6, '0')}Z`
}

/** The query parameters of the endpoints that take a brand. The days need none. */
export const Parameters = z.object({
  endpoint: z
    .optional(z.string())
    .check(z.meta({ description: 'Only the days of this endpoint: the last segment of its path.' })),
  brandId: z.optional(z.guid().check(z.overwrite((id) => id.toLowerCase()))).check(
    z.meta({
      description: 'The brand: an `id` from `/brands`. Without it, `/days` is of every brand.',
    }),
  ),
  since: z
    .optional(
      z.pipe(
        z.iso.datetime({ offset: true }).check(
          fromYear1,
          z.refine<string>((text) => INSTANT.test(text)),
        ),
        z.transform(toMicroseconds),
      ),
    )
    .check(
      z.meta({
        description:
          'A `changed_at` that you received: only later changes are listed. Up to six decimals, any offset. On `/days`, the greatest of all, in the first request of a run.',
      }),
    ),
  fromDate: z.optional(day()).check(
    z.meta({
      description:
        'First day of the window, in UTC. Default: 30 days before today; for `/changes` and `/days` the limit of your plan. A day before the limit of your plan becomes the limit, which `meta.fromDate` reports.',
    }),
  ),
  toDate: z.optional(day()).check(
    z.meta({
      description:
        'Last day of the window, in UTC. Default: today, up to the time of the request; for `/changes` 9999-12-31. If `toDate` is more than 30 days ago, send `fromDate` too (not needed on `/changes`).',
    }),
  ),
  cursor: z.optional(z.string().check(z.regex(new RegExp(`^(${CURSOR})?$`)))).check(
    z.meta({
      description:
        'The `pagination.nextCursor` of the previous page, unchanged. Leave it out or empty for the first page, and keep the other parameters the same. On `/days`, also send the one of the previous run, however old.',
    }),
  ),
  format: z.optional(z.enum(FORMATS)).check(
    z.meta({
      description:
        'Format of the response. `json`, the default, has pages. `csv` and `ndjson` return all rows of the window in one response and take no `cursor`.',
    }),
  ),
})

export type Parameters = z.infer<typeof Parameters>

type ParameterName = keyof Parameters & string

/** The names of an endpoint's parameters. */
const NAMES = {
  brands: ['format'],
  metric: ['brandId', 'fromDate', 'toDate', 'cursor', 'format'],
  changes: ['brandId', 'since', 'fromDate', 'toDate', 'cursor', 'format'],
  days: ['cursor', 'endpoint', 'brandId', 'fromDate', 'since', 'format'],
} as const satisfies Record<Operation['kind'], readonly ParameterName[]>

export const parameterNames = (kind: Operation['kind']): readonly ParameterName[] => NAMES[kind]

/** Whether a name is one of the known parameters. */
const isParameter = (name: unknown): name is ParameterName =>
  typeof name === 'string' && Object.hasOwn(Parameters.shape, name)

/**
 * Parses a query string and ignores unknown parameters; throws 400 for the first of its endpoint's parameters that is
 * misnamed, repeated, missing or malformed.
 */
export function parseParameters(query: URLSearchParams, kind: Operation['kind']): Parameters {
  const names = parameterNames(kind)
  rejectMisnamed(query, { kind, names })
  const repeated = names.find((name) => query.getAll(name).length > 1)
  if (repeated !== undefined) throw parameterError(PARAMETER_ERRORS.repeated(repeated))
  if (kind === 'metric' && !query.has('brandId')) throw parameterError(PARAMETER_ERRORS.missing('brandId'))

  const given = Object.fromEntries(names.map((name) => [name, query.get(name) ?? undefined]))
  const parsed = Parameters.safeParse(given)
  if (!parsed.success) {
    const name = parsed.error.issues[0]?.path[0]
    throw parameterError(isParameter(name) ? PARAMETER_ERRORS[name] : PARAMETER_ERRORS.order)
  }
  const { fromDate, toDate, cursor, format } = parsed.data
  if (fromDate !== undefined && toDate !== undefined && fromDate > toDate) {
    throw parameterError(PARAMETER_ERRORS.order)
  }
  // Also of `/brands`, which has no cursor.
  if (isFile(format) && query.getAll('cursor').some((sent) => sent !== ''))
    throw parameterError(PARAMETER_ERRORS.cursorOfFile)
  if (kind === 'days' && isFile(format)) throw parameterError(PARAMETER_ERRORS.formatOfDays)
  if (kind === 'days' && cursor && parsed.data.since !== undefined)
    throw parameterError(PARAMETER_ERRORS.sinceWithCursor)
  // Tools with a fixed list of parameters send an empty cursor for the first page.
  return { ...parsed.data, cursor: cursor || undefined }
}

/** A valid request for a page. `position` is where its cursor continues; null for the first page. */
export type PageRequest = {
  readonly parameters: Parameters
  /** The window of a first page. */
  readonly requested: RequestedWindow
  readonly position: CursorPosition | null
}

type PageContext = {
  readonly path: string
  readonly kind: Operation['kind']
  /** The dates that a request does not send. */
  readonly defaults: RequestedWindow | undefined
  readonly env: Env
  readonly now: Date
}

/** Reads parameters and cursor; throws 400 when one is wrong. */
export async function readPageRequest(
  query: URLSearchParams,
  { path, kind, defaults, env, now }: PageContext,
): Promise<PageRequest> {
  const parameters = parseParameters(query, kind)
  const requested = withDefaults(parameters, defaults)
  if (parameters.cursor === undefined) {
    if (lacksFromDate(requested, now)) throw parameterError(PARAMETER_ERRORS.lacksFromDate)
    return { parameters, requested, position: null }
  }
  const position = await verifyCursor(parameters.cursor, { ...parameters, endpoint: path }, secretsOf(env))
  if (position === null) throw parameterError(PARAMETER_ERRORS.cursor)
  return { parameters, requested, position }
}

export type DataEndpoint<Request> = {
  readonly path: string
  /** Reads the parameters; throws 400. */
  readonly parse: (context: RequestContext) => Request | Promise<Request>
  readonly handler: (context: RequestContext, request: Request) => Promise<Result>
}

/** Returns the app of an endpoint that needs a key. Wrong parameters are an error of those whose key and plan are right. */
export const dataEndpoint = <Request>({ path, parse, handler }: DataEndpoint<Request>): App =>
  endpoint({
    path,
    handler: async (context) => handler(context, await accessErrorsFirst(context, () => parse(context))),
  })
