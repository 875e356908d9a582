import { ExportApi } from '../src/index.ts'
import type { Progress } from './progress.ts'
import { UsageError } from './usage-error.ts'

export type Access = { readonly url: string; readonly key: string }

/** Returns a client whose requests and waits show in the progress. Throws `UsageError` for a malformed URL or key. */
export function createApi({ url, key }: Access, progress: Progress): ExportApi {
  try {
    return new ExportApi({
      baseUrl: url,
      apiKey: key,
      userAgent: 'export-api-sync/1.0.0',
      fetch: (...request) => {
        progress.request()
        return fetch(...request)
      },
      onRetry: ({ waitMs, error }) => {
        const seconds = Math.ceil(waitMs / 1000)
        progress.notice('wait', `${error.message} Waits ${seconds} s.`, { seconds })
      },
    })
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}
