/** Returns the body of a response. Throws the service's message, or names the setting that is wrong. */
function get({ address = '', key = '' }, path, query = {}) {
  const baseUrl = address.trim().replace(/(\/api\/export\/v1)?\/*$/, '')
  const apiKey = key.trim()
  if (!/^https?:\/\/[\w.:/[\]-]+$/i.test(baseUrl))
    throw new Error('The address of the service must look like https://api.example.com.')
  if (!/^[!-~]+$/.test(apiKey)) throw new Error('The API key is missing, or has characters that no key has.')
  const given = Object.entries(query).filter(([, value]) => value)
  const parameters = given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  const url = `${baseUrl}/api/export/v1/${path}?${parameters.join('&')}`
  const options = {
    // The rate limit counts by the key in Authorization. All scripts of Google share addresses and User-Agent.
    headers: { 'X-API-Key': apiKey, Authorization: `Bearer ${apiKey}` },
    // A redirect would send the key to another address.
    followRedirects: false,
    muteHttpExceptions: true,
  }
  for (let attempt = 0; ; attempt++) {
    let [status, headers, body] = [0, {}, {}]
    // A connection breaks, a body is cut or is no JSON.
    try {
      const response = UrlFetchApp.fetch(url, options)
      status = response.getResponseCode()
      headers = response.getHeaders()
      body = JSON.parse(response.getContentText('UTF-8'))
      if (status === 200 && (body.data || body.paths)) return body
    } catch {}
    const asked = headers['Retry-After'] ?? headers['retry-after']
    const wait = /^\d+$/.test(asked) ? Number(asked) : status === 429 ? 12 : Math.min(2 ** attempt, 12)
    if ((status > 200 && status < 500 && status !== 429) || attempt === 9 || wait > 300) {
      // A gateway may repeat the key, in any case or percent-encoded.
      const message = String(body?.error ?? `The request failed with status ${status}. Check the address.`)
        .replace(/%[2-7][\da-f]/gi, decodeURIComponent)
        .replace(new RegExp(apiKey.replace(/\W/g, '\\$&'), 'gi'), '<API key>')
        .replace(/\p{Cc}/gu, ' ')
      throw Object.assign(new Error(message.slice(0, 1000)), { status })
    }
    Utilities.sleep(wait * 1000)
  }
}

/** Returns the rows of all pages as arrays of values, in the order of the fields. */
function getRows(connection, { id, fields }, query, toValue) {
  const rows = []
  let cursor = ''
  do {
    const { data, pagination } = get(connection, id, { ...query, cursor })
    for (const row of data) rows.push(fields.map(({ name, type }) => toValue(type, row[name])))
    cursor = pagination?.nextCursor
  } while (cursor)
  return rows
}

/** Returns the endpoints that the service's OpenAPI document describes, with the fields of their rows. */
function getEndpoints(connection) {
  const { paths, components } = get(connection, 'openapi.json')
  // These two have no rows of data.
  const tables = Object.entries(paths).filter(([path]) => !/\/(days|changes)$/.test(path))
  return tables.map(([path, { get: operation }]) => {
    const { summary: title, 'x-formula': formula, responses } = operation
    const { items } = responses[200].content['application/json'].schema.properties.data
    const { properties, 'x-primary-key': key } = components.schemas[items.$ref.split('/').pop()]
    const fields = Object.entries(properties).map(([name, { type, format, ...rest }]) => {
      // The format of a number is its width in memory.
      return { ...rest, name, type: [type].flat()[0].replace('string', format ?? 'string') }
    })
    return { id: path.split('/').pop(), title, formula, key, fields }
  })
}
