/** The run has no time left for another request. */
class OutOfTimeError extends Error {}

/**
 * Returns the body of one response. Waits on 429, 503 and dropped connections, until the deadline in milliseconds.
 * Throws the service's sentence on any other error.
 */
function getJson({ baseUrl, apiKey, deadline }, path, query) {
  const parameters = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  const url = `${baseUrl}/api/export/v1/${path}?${parameters.join('&')}`
  for (;;) {
    const { body, error, waitMs } = request(url, apiKey)
    if (body) return body
    if (waitMs === undefined) throw new Error(error)
    if (Date.now() + waitMs > deadline) throw new OutOfTimeError(error)
    Utilities.sleep(waitMs)
  }
}

/** Yields the pages of a window. */
function* pagesOf(connection, path, query) {
  let cursor
  do {
    const page = getJson(connection, path, { ...query, cursor })
    yield page
    cursor = page.pagination.nextCursor ?? undefined
  } while (cursor !== undefined)
}

/** Sends a request. Returns its body, or its error and how long to wait before the next try. */
function request(url, apiKey) {
  let response
  try {
    response = UrlFetchApp.fetch(url, { headers: { 'X-API-Key': apiKey }, muteHttpExceptions: true })
  } catch (error) {
    return { error: error.message, waitMs: 5000 }
  }
  const status = response.getResponseCode()
  const text = response.getContentText()
  if (status === 200) return { body: JSON.parse(text) }
  const error = sentenceOf(text) ?? `The service answered ${status}.`
  if (status !== 429 && status !== 503) return { error }
  const [, seconds = '5'] =
    Object.entries(response.getHeaders()).find(([name]) => name.toLowerCase() === 'retry-after') ?? []
  return { error, waitMs: Number(seconds) * 1000 }
}

/** Returns the service's sentence; undefined when a proxy answered. */
function sentenceOf(text) {
  try {
    return JSON.parse(text).error
  } catch {
    return undefined
  }
}
