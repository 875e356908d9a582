import type { Row } from '../charts/sums.ts'
import { isRow, parseObject } from './json.ts'

/** A response of the API, and the milliseconds until its last byte. */
export type ApiResponse = {
  readonly status: number
  readonly ms: number
  readonly headers: Headers
  readonly text: string
  readonly rows: readonly Row[]
  /** The cursor of the next page; null on the last one. */
  readonly next: string | null
}

export type ApiRequest = {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly key: string
}

/**
 * Sends a request to this service. The key is sent in its header only, without cookies, and the response is not cached.
 */
export function fetchResponse({ path, query, key }: ApiRequest, signal?: AbortSignal): Promise<Response> {
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
    const next = isRow(pagination) && typeof pagination.nextCursor === 'string' ? pagination.nextCursor : null
    const rows = Array.isArray(data) ? data.filter(isRow) : []
    return { status, ms: Math.round(performance.now() - start), headers, text, rows, next }
  } catch {
    return null
  }
}

type Waits = { readonly signal: AbortSignal; readonly onWait: (seconds: number) => void }

/** Yields pages from this one to the last, or to an error. Waits as the service says when the rate limit is reached. */
export async function* pagesFrom(
  request: ApiRequest,
  { signal, onWait }: Waits,
): AsyncGenerator<ApiResponse | null> {
  let { query } = request
  for (;;) {
    const response = await sendRequest({ ...request, query }, signal)
    if (response?.status === 429) {
      for (
        let seconds = Number(response.headers.get('Retry-After')) || 1;
        seconds > 0 && !signal.aborted;
        seconds -= 1
      ) {
        onWait(seconds)
        await new Promise((resolve) => setTimeout(resolve, 1000))
      }
      continue
    }
    yield response
    if (response?.status !== 200 || response.next === null) return
    query = { ...query, cursor: response.next }
  }
}
