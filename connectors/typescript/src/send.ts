import { ConnectionError, type ExportApiError, errorOf, RateLimitError, ServerError } from './errors.ts'
import { type ClientOptions, readOptions } from './options.ts'
import { type JsonResponse, request } from './request.ts'

// docs/specification.md has the rules of retries.
const MOST_ATTEMPTS = 10
/** The time in which the bucket of the rate limit receives its next requests. */
const LONGEST_WAIT_MS = 12_000
/** A service that asks for a longer wait is not waited for. */
const MOST_RETRY_AFTER_MS = 300_000

export type Query = Readonly<Record<string, string | undefined>>

/** A request, and whether the body of its response has all members. */
type Asked<Body> = {
  readonly path: string
  readonly query?: Query
  readonly signal: AbortSignal | undefined
  readonly isComplete: (body: Body) => boolean
}

/** Sends a GET request to a path of the API. Throws `ExportApiError`, or the reason of the signal. */
export type Send = <Body>(asked: Asked<Body>) => Promise<JsonResponse<Body>>

/** Returns what sends requests, and retries them. Throws `TypeError` for wrong options. */
export function createSend(options: ClientOptions): Send {
  const { base, onRetry, ...settings } = readOptions(options)
  // All requests share the rate limit: a 429 holds back all of them.
  let resumeAt = 0

  return async ({ path, query = {}, signal, isComplete }) => {
    const url = new URL(base + path)
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, value)
    }
    for (let attempt = 1; ; attempt += 1) {
      signal?.throwIfAborted()
      while (performance.now() < resumeAt) await sleep(resumeAt - performance.now(), signal)
      try {
        return await request({ ...settings, url, signal, isComplete })
      } catch (error) {
        signal?.throwIfAborted()
        if (!isRetriable(error) || attempt === MOST_ATTEMPTS) throw error
        const waitMs = waitAfter(error, attempt)
        if (waitMs > MOST_RETRY_AFTER_MS)
          throw errorOf(`${error.message} It asks to wait ${waitMs / 1000} s.`, error)
        if (error.status === 429) resumeAt = Math.max(resumeAt, performance.now() + waitMs)
        onRetry({ waitMs, error })
        await sleep(waitMs, signal)
      }
    }
  }
}

const isRetriable = (error: unknown): error is ExportApiError =>
  error instanceof ConnectionError || error instanceof RateLimitError || error instanceof ServerError

/** Returns how long to wait after an attempt: as the response says, else 1, 2, 4, 8, then 12 seconds. */
function waitAfter({ status, retryAfterMs }: ExportApiError, attempt: number): number {
  const unknown = status === 429 ? LONGEST_WAIT_MS : Math.min(1000 * 2 ** (attempt - 1), LONGEST_WAIT_MS)
  return retryAfterMs ?? unknown
}

/** Throws the reason of the signal as soon as it is aborted. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
}
