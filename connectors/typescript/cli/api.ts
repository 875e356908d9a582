import manifest from '../package.json' with { type: 'json' }
import { ExportApi } from '../src/index.ts'
import { CommandError, UsageError } from './errors.ts'
import type { Progress } from './progress.ts'

export type Access = {
  readonly url?: string | undefined
  readonly key: string | undefined
  readonly userAgent?: string | undefined
  readonly allowHttp?: boolean | undefined
}

/** A service to which no connection was made is not waited for after so many attempts, or so many milliseconds. */
const MOST_ATTEMPTS = 3
const MOST_MS = 5_000

/**
 * Returns a client whose requests and waits show in the progress. It throws `CommandError` when the service cannot be
 * reached at all. Throws `UsageError` for a URL or key that is missing or malformed.
 */
export function createApi({ url, key, userAgent, allowHttp }: Access, progress: Progress): ExportApi {
  if (!url) throw new UsageError('The address of the service is missing. Set EXPORT_API_URL or --url.')
  if (!key) throw new UsageError('The key is missing. Set EXPORT_API_KEY.')
  let isReached = false
  let attempts = 0
  let firstAt = Number.POSITIVE_INFINITY
  try {
    return new ExportApi({
      baseUrl: url,
      apiKey: key,
      allowHttp,
      userAgent: userAgent ?? `export-api-sync/${manifest.version}`,
      fetch: async (...request) => {
        progress.request()
        firstAt = Math.min(firstAt, performance.now())
        const response = await fetch(...request)
        isReached = true
        progress.respond(response.headers)
        return response
      },
      onRetry: ({ waitMs, error }) => {
        attempts += 1
        // Connecting fails long before the timeout of a request.
        isReached ||= error.cause instanceof Error && error.cause.name === 'TimeoutError'
        if (!isReached && (attempts >= MOST_ATTEMPTS || performance.now() - firstAt > MOST_MS))
          throw new CommandError(describeUnreachable(error.message), { cause: error })
        const seconds = Math.ceil(waitMs / 1000)
        const routine = error.status === 429 ? 'the rate limit' : isReached ? undefined : 'the service'
        progress.wait(`${error.message} Waits ${seconds} s.`, seconds, routine)
      },
    })
  } catch (cause) {
    throw new UsageError(nameOptions(cause instanceof Error ? cause.message : String(cause)), { cause })
  }
}

const describeUnreachable = (message: string): string =>
  `${message.replace('No complete response from', 'Cannot reach')} Check EXPORT_API_URL or --url, and whether the service runs.`

/** Names the options of the command in a message of the client. */
export const nameOptions = (message: string): string =>
  message
    .replace('The baseUrl', 'EXPORT_API_URL or --url')
    .replace('Check baseUrl', 'Check EXPORT_API_URL or --url')
    .replace('The apiKey', 'EXPORT_API_KEY')
    .replace('Set allowHttp', 'Use --allow-http')
