import * as z from 'zod/mini'
import { malformed, shareError } from './errors.ts'
import { type Bounds, readHints } from './hints.ts'

/** What a query asks for; at most one of version and timestamp is not empty. */
export type Query = { readonly version: string; readonly timestamp: string; readonly bounds: Bounds }

/** What a feed of changes asks for; one start and at most one end is not empty. */
export type Feed = {
  readonly startingVersion: string
  readonly startingTimestamp: string
  readonly endingVersion: string
  readonly endingTimestamp: string
}

const MOST_VERSION = 2_147_483_647

const Timestamp = z.iso.datetime({ offset: true })

function parseVersion(name: string, value: string): string {
  if (value === '' || (/^\d{1,10}$/.test(value) && Number(value) <= MOST_VERSION)) return value
  throw malformed(name, 'version')
}

/** Returns a time as it was sent; empty when it was not. */
export function parseTimestamp(name: string, value: string): string {
  if (value === '' || Timestamp.safeParse(value).success) return value
  throw malformed(name, 'timestamp')
}

/** Parses the parameters of a feed; throws 400. */
export function parseFeed(query: URLSearchParams): Feed {
  const parameter = (name: string) => query.get(name) ?? ''
  const feed = {
    startingVersion: parseVersion('startingVersion', parameter('startingVersion')),
    startingTimestamp: parseTimestamp('startingTimestamp', parameter('startingTimestamp')),
    endingVersion: parseVersion('endingVersion', parameter('endingVersion')),
    endingTimestamp: parseTimestamp('endingTimestamp', parameter('endingTimestamp')),
  }
  if ((feed.startingVersion === '') === (feed.startingTimestamp === '')) throw shareError('start')
  if (feed.endingVersion !== '' && feed.endingTimestamp !== '') throw shareError('end')
  return feed
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null

/** Parses the body of a query; throws 400. Hints that it does not understand are left out: clients filter again. */
export function parseQuery(text: string): Query {
  const body = parseObject(text)
  if (!isAbsent(body.startingVersion) || !isAbsent(body.endingVersion)) throw shareError('streaming')
  const version = isAbsent(body.version) ? '' : parseVersion('version', String(body.version) || '-')
  const timestamp = isAbsent(body.timestamp) ? '' : parseTimestamp('timestamp', String(body.timestamp) || '-')
  if (version !== '' && timestamp !== '') throw shareError('versionAndTimestamp')
  return { version, timestamp, bounds: readHints(body) }
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  if (text.trim() === '') return {}
  try {
    return z.parse(z.record(z.string(), z.unknown()), JSON.parse(text))
  } catch {
    throw shareError('body')
  }
}

const CAPABILITY = /(?:^|;)\s*responseformat\s*=\s*([^;]*)/i

/** Throws 400 when a client accepts other formats only. Without the header it accepts Parquet (the protocol). */
export function requireParquet(capabilities: string | undefined): void {
  const formats = CAPABILITY.exec(capabilities ?? '')?.[1]
    ?.toLowerCase()
    .split(',')
  if (formats !== undefined && !formats.some((format) => format.trim() === 'parquet'))
    throw shareError('format')
}

/** A page of a list. */
export type Page = { readonly from: number; readonly size: number }

/** Parses the parameters of a list; throws 400. A token is the number of items before the page. */
export function parsePage(query: URLSearchParams): Page {
  const token = query.get('pageToken') || '0'
  const size = query.get('maxResults') || String(MOST_VERSION)
  if (!/^\d{1,9}$/.test(token)) throw shareError('pageToken')
  if (!/^\d{1,10}$/.test(size)) throw shareError('maxResults')
  return { from: Number(token), size: Number(size) }
}

/** Returns the body of a list, with the token of the next page unless it is the last one. */
export function listBody(items: readonly object[], { from, size }: Page): string {
  const next = from + size < items.length ? { nextPageToken: String(from + size) } : {}
  return JSON.stringify({ items: items.slice(from, from + size), ...next })
}
