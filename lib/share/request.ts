import * as z from 'zod/mini'
import { PARAMETER_ERRORS, parameterError } from '../request/errors.ts'
import { malformed, shareError } from './errors.ts'
import { readHints } from './hints.ts'

/** The version that is asked for, by its number or by a time; the latest when both are empty. */
export type AsOf = { readonly version: string; readonly timestamp: string }

const MOST_VERSION = 2_147_483_647

const Timestamp = z.iso.datetime({ offset: true })

/** Returns a parameter of the query string; throws 400 when it is repeated. */
function parameter(query: URLSearchParams, name: string): string | undefined {
  const [value, ...others] = query.getAll(name)
  if (others.length > 0) throw parameterError(PARAMETER_ERRORS.repeated(name))
  return value
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null

/** Returns a version as text; empty when it was not sent. */
function parseVersion(name: string, value: unknown): string {
  if (isAbsent(value)) return ''
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text === 'string' && /^\d{1,10}$/.test(text) && Number(text) <= MOST_VERSION) return text
  throw malformed(name, 'version')
}

/** Returns a time in UTC with milliseconds; empty when it was not sent. */
function parseTimestamp(name: string, value: unknown): string {
  if (isAbsent(value)) return ''
  const { data } = Timestamp.safeParse(value)
  const time = data === undefined ? '' : new Date(data).toISOString()
  // Years before 1 and after 9999 begin with a sign.
  if (time >= '0001') return time
  throw malformed(name, 'timestamp')
}

/** Parses the parameter `startingTimestamp`; throws 400. */
export const parseStart = (query: URLSearchParams): string =>
  parseTimestamp('startingTimestamp', parameter(query, 'startingTimestamp'))

/** Parses the parameters of a feed, of which one start and at most one end is not empty; throws 400. */
export function parseFeed(query: URLSearchParams) {
  const version = (name: string) => parseVersion(name, parameter(query, name))
  const feed = {
    startingVersion: version('startingVersion'),
    startingTimestamp: parseStart(query),
    endingVersion: version('endingVersion'),
    endingTimestamp: parseTimestamp('endingTimestamp', parameter(query, 'endingTimestamp')),
  }
  if ((feed.startingVersion === '') === (feed.startingTimestamp === '')) throw shareError('start')
  if (feed.endingVersion !== '' && feed.endingTimestamp !== '') throw shareError('end')
  return feed
}

/**
 * Parses the body of a query; throws 400. The token is empty when it was not sent; else version and timestamp are. Hints that
 * it does not understand are left out: clients filter again.
 */
export function parseQuery(text: string) {
  const body = parseObject(text)
  if (!isAbsent(body.startingVersion) || !isAbsent(body.endingVersion)) throw shareError('streaming')
  const asOf = toAsOf(body.version, body.timestamp)
  const refreshToken = isAbsent(body.refreshToken) ? '' : body.refreshToken
  if (typeof refreshToken !== 'string' || body.refreshToken === '') throw malformed('refreshToken', 'token')
  if (refreshToken !== '' && (asOf.version || asOf.timestamp) !== '') throw shareError('asOf')
  const includeRefreshToken = body.includeRefreshToken === true
  return { ...asOf, refreshToken, includeRefreshToken, bounds: readHints(body) }
}

/** Parses the parameters of metadata; throws 400. */
export const parseAsOf = (query: URLSearchParams): AsOf =>
  toAsOf(parameter(query, 'version'), parameter(query, 'timestamp'))

function toAsOf(version: unknown, timestamp: unknown): AsOf {
  const asOf = {
    version: parseVersion('version', version),
    timestamp: parseTimestamp('timestamp', timestamp),
  }
  if (asOf.version !== '' && asOf.timestamp !== '') throw shareError('asOf')
  return asOf
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  if (text.trim() === '') return {}
  try {
    return z.parse(z.record(z.string(), z.unknown()), JSON.parse(text))
  } catch {
    throw shareError('body')
  }
}

const CAPABILITIES = 'delta-sharing-capabilities'
const FORMATS = /(?:^|;)\s*responseformat\s*=\s*([^;]*)/i

/**
 * Parses the headers of a call that is answered with lines, and returns those that tell how it is answered. Throws 400 when
 * the client accepts other formats only (without the header it accepts Parquet), or other ids of files.
 */
export function parseHeaders(headers: Headers): Readonly<Record<string, string>> {
  const formats = FORMATS.exec(headers.get(CAPABILITIES) ?? '')?.[1]
    ?.toLowerCase()
    .split(',')
  if (formats !== undefined && !formats.some((format) => format.trim() === 'parquet'))
    throw shareError('format')
  const fileidhash = headers.get('fileidhash')?.toLowerCase()
  if (fileidhash !== undefined && fileidhash !== 'parquet') throw shareError('fileIdHash')
  return { [CAPABILITIES]: 'responseformat=parquet', ...(fileidhash && { fileidhash }) }
}

/** A page of a list. */
export type Page = { readonly from: number; readonly size: number }

/** Parses the parameters of a list; throws 400. A token is the number of items before the page. */
export function parsePage(query: URLSearchParams): Page {
  const token = parameter(query, 'pageToken') || '0'
  const size = parameter(query, 'maxResults') || String(MOST_VERSION)
  if (!/^\d{1,9}$/.test(token)) throw shareError('pageToken')
  if (!/^\d{1,10}$/.test(size)) throw shareError('maxResults')
  return { from: Number(token), size: Number(size) }
}

/** Returns the body of a list, with the token of the next page unless it is the last one. */
export function listBody(items: readonly object[], { from, size }: Page): string {
  const next = from + size < items.length ? { nextPageToken: String(from + size) } : {}
  return JSON.stringify({ items: items.slice(from, from + size), ...next })
}
