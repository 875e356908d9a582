/** A response, and the milliseconds until its last byte. */
export type ApiResponse = {
  readonly status: number
  readonly ms: number
  readonly headers: Headers
  readonly text: string
}

/**
 * Sends a request to this service. Returns null when there is no response. The key is sent in its header only, without
 * cookies, and the response is not cached.
 */
export async function sendRequest(
  path: string,
  query: Readonly<Record<string, string>>,
  key: string,
): Promise<ApiResponse | null> {
  const parameters = new URLSearchParams(query).toString()
  const start = performance.now()
  try {
    const response = await fetch(path + (parameters && `?${parameters}`), {
      headers: key === '' ? {} : { 'X-API-Key': key },
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
    })
    const { status, headers } = response
    const text = await response.text()
    return { status, ms: Math.round(performance.now() - start), headers, text }
  } catch {
    return null
  }
}
