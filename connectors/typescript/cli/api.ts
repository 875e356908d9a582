import manifest from '../package.json' with { type: 'json' }
import { ExportApi } from '../src/index.ts'
import { UsageError } from './errors.ts'
import type { Progress } from './progress.ts'

export type Access = { readonly url: string; readonly key: string; readonly userAgent?: string | undefined }

/** Returns a client whose requests and waits show in the progress. Throws `UsageError` for a malformed URL or key. */
export function createApi({ url, key, userAgent }: Access, progress: Progress): ExportApi {
  try {
    return new ExportApi({
      baseUrl: url,
      apiKey: key,
      userAgent: userAgent ?? `export-api-sync/${manifest.version}`,
      fetch: async (...request) => {
        progress.request()
        const response = await fetch(...request)
        progress.respond(response.headers)
        return response
      },
      onRetry: ({ waitMs, error }) => {
        const seconds = Math.ceil(waitMs / 1000)
        progress.notice('wait', `${error.message} Waits ${seconds} s.`, { seconds }, 'warn')
      },
    })
  } catch (cause) {
    throw new UsageError(nameOptions(cause instanceof Error ? cause.message : String(cause)), { cause })
  }
}

/** Names the options of the command in a message of the client. */
export const nameOptions = (message: string): string =>
  message
    .replace('The baseUrl', '--url')
    .replace('Check baseUrl', 'Check --url')
    .replace('The apiKey', 'EXPORT_API_KEY')
