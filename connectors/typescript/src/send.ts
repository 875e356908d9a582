import { ConnectionError, ExportApiError } from './errors.ts'
import { type ClientOptions, readOptions } from './options.ts'
import { type JsonResponse, request } from './request.ts'

const LONGEST_BACKOFF_MS = 60_000

export type Query = Readonly<Record<string, string | undefined>>

/** Sends a GET request to a path of the API. Throws `ExportApiError`, or the reason of the signal. */
export type Send = <Body>(path: string, query: Query, signal?: AbortSignal) => Promise<JsonResponse<Body>>

/** Returns what sends requests, and retries them. Throws `TypeError` for wrong options. */
export function createSend(options: ClientOptions): Send {
  const { base, retryMs, onRetry, ...settings } = readOptions(options)
  // All requests share the rate limit: a 429 holds back all of them.
  let resumeAt = 0

  return async <Body>(path: string, query: Query, signal?: AbortSignal) => {
    const url = new URL(base + path)
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, value)
    }
    const deadline = performance.now() + retryMs
    const errors: ExportApiError[] = []
    while (true) {
      signal?.throwIfAborted()
      while (performance.now() < resumeAt) await sleep(resumeAt - performance.now(), signal)
      try {
        return await request<Body>({ ...settings, url, signal })
      } catch (error) {
        signal?.throwIfAborted()
        if (!(error instanceof ExportApiError)) throw error
        errors.push(error)
        const waitMs = waitAfter(errors)
        const at = performance.now() + waitMs
        if (!isRetriable(errors) || waitMs > retryMs || performance.now() > deadline) throw error
        if (error.status === 429) resumeAt = Math.max(resumeAt, at)
        onRetry({ waitMs, error })
        await sleep(waitMs, signal)
      }
    }
  }
}

/** Lost connections, 429 and 503 pass. A 500 can be an accident, once. */
function isRetriable(errors: readonly ExportApiError[]): boolean {
  const { status = 0 } = errors.at(-1) ?? {}
  if (status === 500) return errors.filter((error) => error.status === 500).length === 1
  return errors.at(-1) instanceof ConnectionError || status === 429 || status > 500
}

/** Returns how long to wait after the last of some errors: as long as it says, else about twice as long as before. */
function waitAfter(errors: readonly ExportApiError[]): number {
  const { retryAfterMs } = errors.at(-1) ?? {}
  if (retryAfterMs !== undefined) return Math.max(retryAfterMs, 1000)
  // Clients that failed at one time do not retry at one time.
  return Math.min(500 * 2 ** errors.length, LONGEST_BACKOFF_MS) * (1 - Math.random() / 2)
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
