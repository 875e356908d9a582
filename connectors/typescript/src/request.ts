import { ConnectionError, ExportApiError, errorOf } from './errors.ts'

/** A complete response with status 200. */
export type JsonResponse<Body> = { readonly headers: Headers; readonly body: Body }

type Attempt<Body> = {
  readonly url: URL
  /** Whether a body has all members. */
  readonly isComplete: (body: Body) => boolean
  readonly headers: Headers
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number
  readonly fetch: typeof fetch
  readonly toMessage: (text: string) => string
}

/** Sends a GET request once. Throws `ExportApiError` for anything but a complete response. */
export async function request<Body>({
  url,
  isComplete,
  fetch,
  signal,
  timeoutMs,
  headers,
  toMessage,
}: Attempt<Body>): Promise<JsonResponse<Body>> {
  const { origin } = url
  const timeout = AbortSignal.timeout(timeoutMs)
  const incomplete = (error: unknown) => {
    const root = rootOf(error)
    // Errors of fetch carry bytes of a response.
    const cause = new Error(toMessage(reasonOf(root)))
    if (root instanceof Error) cause.name = root.name
    const message = `No complete response from ${origin}: ${cause.message}.`
    if (!isUntrusted(root)) throw new ConnectionError(message, { cause })
    const advice =
      'If your network has a certificate authority of its own, set NODE_EXTRA_CA_CERTS to its file.'
    throw new ExportApiError(`${message} ${advice}`, { cause })
  }
  const response = await fetch(url, {
    headers,
    // Another host must not get the key.
    redirect: 'manual',
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  }).catch(incomplete)
  const text = await textOf(response, origin).catch((error) =>
    error instanceof ExportApiError ? Promise.reject(error) : incomplete(error),
  )
  const body = parse<Body>(text)
  const { ok, status } = response
  const details = {
    status: status || undefined,
    requestId: toMessage(response.headers.get('X-Request-Id') ?? '') || undefined,
    retryAfterMs: retryAfterMs(response.headers),
  }
  if (!ok) {
    const message = typeof body?.error === 'string' ? toMessage(body.error) : describe(origin, response)
    throw errorOf(message, details)
  }
  if (body && isComplete(body)) return { headers: response.headers, body }
  const isJson = response.headers.get('Content-Type')?.startsWith('application/json')
  // Not every fetch notices that a body is cut short.
  if (isJson && body === undefined) return incomplete(new SyntaxError('the body is no JSON'))
  throw new ConnectionError(`${origin} did not return rows. Check baseUrl.`, details)
}

/** The largest page has 4 MiB, and a list of brands some more. */
const MOST_BYTES = 64 * 1024 * 1024

/** Returns the body of a response. Throws `ExportApiError` for one that is too large to be a page. */
async function textOf({ body }: Response, origin: string): Promise<string> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { value } = (await reader?.read()) ?? {}
    if (value === undefined) return text + decoder.decode()
    bytes += value.byteLength
    if (bytes > MOST_BYTES) {
      await reader?.cancel().catch(() => {})
      throw new ExportApiError(`${origin} sent more than a page. Check baseUrl.`, {})
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** Returns the JSON of a text, undefined when it is none. */
function parse<Body>(text: string): (Body & { readonly error?: unknown }) | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Describes a response that has no message of the service. Browsers hide the status of a redirect. */
function describe(origin: string, { status, headers }: Response): string {
  if (REDIRECTS.includes(status)) return `${origin} redirects. Check baseUrl.`
  if (status === 403 && headers.get('Content-Type')?.startsWith('text/html'))
    return `${origin} returned 403 with a page that is not of the Export API: a proxy or firewall answered.`
  return `${origin} returned ${status}.`
}

const REDIRECTS = [0, 301, 302, 303, 307, 308]

/** Returns `Retry-After`, which the service sends as a number of seconds. */
function retryAfterMs(headers: Headers): number | undefined {
  const text = headers.get('Retry-After') ?? ''
  return /^\d+$/.test(text) ? Number(text) * 1000 : undefined
}

/** Returns what has failed below `fetch`, which only says that it has. */
function rootOf(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const [inner = error.cause] = error instanceof AggregateError ? error.errors : []
  return inner === undefined ? error : rootOf(inner)
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message || error.name : String(error)

/** Whether Node rejects a certificate. A retry would not help. */
const isUntrusted = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /CERT|LEAF_SIGNATURE/.test(String(error.code))
