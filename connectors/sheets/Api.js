/** Returns where requests go and with which key. Throws for what cannot be right, without the key. */
function toConnection(address, key) {
  const baseUrl = address.trim().replace(/(\/api\/export\/v1)?\/*$/, '')
  const apiKey = key.trim()
  if (!/^https?:\/\/[\w.:/[\]-]+$/i.test(baseUrl))
    throw new Error('The address of the service must look like https://api.example.com.')
  if (!/^[!-~]+$/.test(apiKey)) throw new Error('The API key is missing, or has characters that no key has.')
  return { baseUrl, apiKey }
}

/**
 * Returns the text of a response, and its headers by their names in lower case. Waits on 429 and 503. Throws the
 * service's message on any other error, and in the last attempt, with the status.
 */
function send({ baseUrl, apiKey }, path, query = {}, attempts = 5) {
  const parameters = Object.entries(query)
    .filter(([, value]) => value)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  const url = `${baseUrl}/api/export/v1/${path}?${parameters.join('&')}`
  for (let attempt = 1; ; attempt++) {
    const options = {
      // The rate limit counts by the key in Authorization. All scripts of Google share addresses and User-Agent.
      headers: { 'X-API-Key': apiKey, Authorization: `Bearer ${apiKey}` },
      // A redirect would send the key to another address.
      followRedirects: false,
      muteHttpExceptions: true,
    }
    const response = UrlFetchApp.fetch(url, options)
    const status = response.getResponseCode()
    const text = response.getContentText('UTF-8')
    const named = Object.entries(response.getHeaders())
    const headers = Object.fromEntries(named.map(([name, value]) => [name.toLowerCase(), value]))
    if (status === 200) return { text, headers }
    if ((status !== 429 && status !== 503) || attempt === attempts)
      throw Object.assign(new Error(messageOf(status, text, apiKey)), { status })
    Utilities.sleep(Number(headers['retry-after'] ?? '5') * 1000)
  }
}

const getJson = (connection, path) => JSON.parse(send(connection, path).text)

/** Returns the message of an answer without what a gateway may repeat in it: the key in any case or percent-encoding. */
function messageOf(status, text, apiKey) {
  const key = new RegExp(apiKey.replace(/\W/g, '\\$&'), 'gi')
  try {
    return JSON.parse(text)
      .error.replace(/%[2-7][\da-f]/gi, decodeURIComponent)
      .replace(key, '<API key>')
      .replace(/\p{Cc}/gu, ' ')
      .slice(0, 1000)
  } catch {
    // A proxy answered.
    return `The service answered ${status}.`
  }
}

/** Returns the rows of a window as arrays of values, in the order of the fields. An empty cell is null. */
function getRows(connection, { id, fields }, window, toValue) {
  const [names, ...records] = getRecords(connection, id, { ...window, format: 'csv' })
  const columns = fields.map(({ name, type }) => ({ type, index: names.indexOf(name) }))
  return records.map((cells) =>
    columns.map(({ type, index }) => (cells[index] === '' ? null : toValue(type, cells[index]))),
  )
}

/** Returns the records of a file, whose transfer Google can cut without an error. Throws after three incomplete ones. */
function getRecords(connection, id, query) {
  for (let attempt = 1; attempt <= 3; attempt++) {
    const { text, headers } = send(connection, id, query)
    const records = Utilities.parseCsv(text)
    const expected = headers['x-expected-rows'] ?? records.length - 1
    // A complete file ends a record.
    if (text.endsWith('\r\n') && records.length - 1 === Number(expected)) return records
  }
  throw new Error(`The file of ${id} arrived incomplete three times. Load it again later, or shorter dates.`)
}

/** Returns the endpoints that the service's OpenAPI document describes, with the fields of their rows. */
function getEndpoints(connection) {
  const { paths, components } = getJson(connection, 'openapi.json')
  const lastSegment = (path) => path.slice(path.lastIndexOf('/') + 1)
  // These are no tables of rows.
  const others = ['days', 'changes']
  const tables = Object.entries(paths).filter(([path]) => !others.includes(lastSegment(path)))
  return tables.map(([path, { get }]) => {
    const { items } = get.responses[200].content['application/json'].schema.properties.data
    const { properties, 'x-primary-key': key } = components.schemas[lastSegment(items.$ref)]
    const fields = Object.entries(properties).map(([name, { type, format, description, ...rest }]) => ({
      name,
      // The format of a number is its width in memory.
      type: [type].flat()[0].replace('string', format ?? 'string'),
      description,
      isSummed: rest['x-aggregation'] === 'sum',
    }))
    return { id: lastSegment(path), title: get.summary, formula: get['x-formula'], key, fields }
  })
}
