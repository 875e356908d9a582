/** A response, and the milliseconds until its last byte. */
export type ApiResponse = {
  readonly status: number
  readonly ms: number
  readonly headers: Headers
  readonly text: string
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
export async function sendRequest(request: ApiRequest): Promise<ApiResponse | null> {
  const start = performance.now()
  try {
    const response = await fetchResponse(request)
    const { status, headers } = response
    const text = await response.text()
    return { status, ms: Math.round(performance.now() - start), headers, text }
  } catch {
    return null
  }
}
