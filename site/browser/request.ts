import type { Row } from '../charts/sums.ts'
import { isRow, parseObject } from './json.ts'

/** A response of the API, and the milliseconds until its last byte. */
export type ApiResponse = {
  readonly status: number
  readonly ms: number
  readonly headers: Headers
  readonly text: string
  readonly rows: readonly Row[]
  /** The cursor of the next page; null on the last one, also where that has a cursor of the next run. */
  readonly next: string | null
  /** The key of the request. */
  readonly key: string
}

export type ApiRequest = {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly key: string
}

/**
 * Sends a request to this service. The key is sent in its header only, without cookies, and the response is not cached.
 */
function fetchResponse({ path, query, key }: ApiRequest, signal?: AbortSignal): Promise<Response> {
  const parameters = new URLSearchParams(query).toString()
  return fetch(path + (parameters && `?${parameters}`), {
    headers: key === '' ? {} : { 'X-API-Key': key },
    credentials: 'omit',
    cache: 'no-store',
    redirect: 'error',
    signal: signal ?? null,
  })
}

/** Sends a request and reads the response. Returns null when there is no response. */
export async function sendRequest(request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse | null> {
  const start = performance.now()
  try {
    const response = await fetchResponse(request, signal)
    const { status, headers } = response
    const text = await response.text()
    const { data, pagination } = parseObject(text) ?? {}
    const next = isRow(pagination) && pagination.hasMore ? String(pagination.nextCursor) : null
    const rows = Array.isArray(data) ? data.filter(isRow) : []
    return { status, ms: Math.round(performance.now() - start), headers, text, rows, next, key: request.key }
  } catch {
    return null
  }
}

export type Reading = {
  readonly signal: AbortSignal
  /** Called with what one waits for, such as "1,000 of 42,130 rows". */
  readonly onProgress: (text: string) => void
}

/** A file that is not whole, or no file: what to tell the reader. */
export class FileError extends Error {}

/** Returns the message of an error response. */
export function errorOf({ status, text, key }: Pick<ApiResponse, 'status' | 'text' | 'key'>): string {
  const error = parseObject(text)?.error
  return typeof error === 'string' ? toMessage(error, key) : `The service returned ${status}.`
}

/** Returns an answer's first 1,000 characters without the key, which gateways repeat, also in capitals or encoded. */
export const toMessage = (answer: string, key: string): string =>
  answer
    .replace(/%[2-7][\da-f]/gi, decodeURIComponent)
    .replace(new RegExp(key.replace(/\W/g, '\\$&') || '(?!)', 'gi'), '<API key>')
    .slice(0, 1000)

export const SENDING = 'Sending…'
export const INVALID_KEY = 'This key is not valid.'
export const NO_RESPONSE = 'No response. Check your connection, then send the request again.'

/** Reads a page. Returns a message instead of rows when it fails. */
export async function readRows(request: ApiRequest, signal?: AbortSignal): Promise<readonly Row[] | string> {
  if (request.key === '') return 'Enter your API key first.'
  const response = await sendRequest(request, signal)
  if (response === null) return NO_RESPONSE
  if (response.status === 401) return INVALID_KEY
  return response.status === 200 ? response.rows : `${response.status}: ${errorOf(response)}`
}

/** Requests all rows of a window as a file, again after a wait when the rate limit is reached. */
export async function fetchFile(
  { query: { cursor, ...query }, ...request }: ApiRequest,
  format: string,
  { signal, onProgress }: Reading,
) {
  for (;;) {
    const response = await fetchResponse({ ...request, query: { ...query, format } }, signal)
    const { status, headers, body } = response
    if (status === 200 && body) return { headers, body }
    if (status !== 429)
      throw new FileError(`${status}: ${errorOf({ status, text: await response.text(), key: request.key })}`)
    for (let seconds = Number(headers.get('Retry-After')) || 1; seconds > 0; seconds -= 1) {
      signal.throwIfAborted()
      onProgress(`Waiting ${seconds} s for the rate limit.`)
      await new Promise((resolve) => setTimeout(resolve, 1000))
    }
  }
}

/** Calls `onRow` with each row of a window. Returns the time of its data. Throws `FileError` when one is missing. */
export async function readWindow(
  request: ApiRequest,
  onRow: (row: Row) => void,
  reading: Reading,
): Promise<string | null> {
  const { headers, body } = await fetchFile(request, 'ndjson', reading)
  const expected = Number(headers.get('X-Expected-Rows'))
  if (expected > MOST_ROWS) {
    await body.cancel()
    throw new FileError(`The window has ${amount(expected)}: too many to draw. Choose fewer days.`)
  }
  const decoder = new TextDecoder()
  let [rows, rest] = [0, '']
  for await (const chunk of chunksOf(body)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onRow(JSON.parse(line))
    rows += lines.length
    reading.onProgress(`Drawing: ${rows.toLocaleString('en')} of ${amount(expected)}.`)
  }
  // A proxy can end a transfer that it could not finish.
  if (rows !== expected)
    throw new FileError('Rows are missing, or changed meanwhile. Send the request again.')
  return headers.get('X-Data-As-Of')
}

/** More rows take longer than a reader waits. */
const MOST_ROWS = 500_000

/** Yields the chunks of a body. Safari's streams are not iterable. */
export async function* chunksOf(body: ReadableStream<Uint8Array<ArrayBuffer>>) {
  const reader = body.getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value
}

/** Writes a number of rows. */
export const amount = (rows: number): string => `${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'}`
