import type { ExportApiError } from './errors.ts'
import { messageMaker } from './message.ts'

const BASE = '/api/export/v1'
// <generated version>
const USER_AGENT = 'export-api-typescript/1.0.0'
// </generated version>

/** A wait before the next attempt, and the error that caused it. */
export type Retry = { readonly waitMs: number; readonly error: ExportApiError }

export type ClientOptions = {
  /** Root of the host, such as `https://api.example.com`. `http://` needs `allowHttp`, except for this machine. */
  readonly baseUrl: string
  /** An export key, `svc_live_…`. */
  readonly apiKey: string
  /** Whether the key may be sent by `http://`, in a network that you trust. */
  readonly allowHttp?: boolean | undefined
  /** Names the program to the operator. Browsers send their own. */
  readonly userAgent?: string | undefined
  /** How long each attempt may take until its response is complete, in milliseconds. Default: 1 minute. */
  readonly timeoutMs?: number | undefined
  /** Receives each wait. What it throws ends the request. */
  readonly onRetry?: ((retry: Retry) => void) | undefined
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch | undefined
}

export type Settings = {
  /** Address of the API, to which paths are appended. */
  readonly base: string
  readonly headers: Headers
  readonly timeoutMs: number
  readonly onRetry: (retry: Retry) => void
  readonly fetch: typeof fetch
  /** Makes a message of a text of the service, in which a gateway may repeat the key. */
  readonly toMessage: (text: string) => string
}

/** Returns what the options say, with defaults. Throws `TypeError` for wrong ones, without their values. */
export function readOptions(options: Partial<ClientOptions> = {}): Settings {
  const { userAgent = USER_AGENT, timeoutMs = 60_000, onRetry = () => {} } = options
  const apiKey = (options.apiKey ?? '').trim()
  if (!/^[!-~]+$/.test(apiKey))
    throw new TypeError('The apiKey is missing, or has characters that no key has.')
  if (!(timeoutMs > 0)) throw new TypeError('The timeoutMs must be a number of milliseconds, more than 0.')
  return {
    base: rootOf(options.baseUrl ?? '', options.allowHttp) + BASE,
    // The rate limit counts by the key in Authorization, or else by address and User-Agent.
    headers: new Headers({ 'X-API-Key': apiKey, Authorization: `Bearer ${apiKey}`, 'User-Agent': userAgent }),
    timeoutMs,
    onRetry,
    fetch: options.fetch ?? ((...request) => fetch(...request)),
    toMessage: messageMaker(apiKey),
  }
}

const LOOPBACK = /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Returns the root of the host. Accepts what people paste: a slash at the end, or the API's base. */
function rootOf(baseUrl: string, allowHttp = false): string {
  const root = baseUrl
    .trim()
    .replace(/\/+$/, '')
    .replace(new RegExp(`${BASE}$`), '')
  if (!/^https?:\/\/[^?#@]+$/.test(root) || !URL.canParse(root))
    throw new TypeError('The baseUrl must look like https://api.example.com.')
  const { protocol, hostname } = new URL(root)
  if (allowHttp || protocol === 'https:' || LOOPBACK.test(hostname)) return root
  throw new TypeError(
    'The baseUrl must begin with https://, or others could read the key. Set allowHttp in a network that you trust.',
  )
}
