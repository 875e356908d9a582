/** What came back, and how long it took. */
export type Answered = {
  readonly status: number
  readonly ms: number
  readonly headers: Headers
  readonly text: string
}

/**
 * Sends a request to this page's own service; null when nothing came back. The key travels in its header alone, no cookie
 * goes along, and the answer is not kept on the disk.
 */
export async function ask(
  path: string,
  query: Readonly<Record<string, string>>,
  key: string,
): Promise<Answered | null> {
  const parameters = new URLSearchParams(query).toString()
  const start = performance.now()
  try {
    const response = await fetch(path + (parameters && `?${parameters}`), {
      headers: key === '' ? {} : { 'X-API-Key': key },
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
    })
    const text = await response.text()
    return {
      status: response.status,
      ms: Math.round(performance.now() - start),
      headers: response.headers,
      text,
    }
  } catch {
    return null
  }
}
