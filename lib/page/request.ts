import type { Env } from '../request/env.ts'
import { PARAMETER_ERRORS, parameterError } from '../request/errors.ts'
import { secretsOf } from '../request/hash.ts'
import { type CursorPosition, verifyCursor } from './cursor.ts'
import type { Operation } from './operation.ts'
import { type Parameters, parseParameters } from './parameters.ts'
import { lacksFromDate, type RequestedWindow, withDefaults } from './window.ts'

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
