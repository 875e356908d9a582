// Copied from connectors/sheets/Api.js by `npm run connectors`.
/** Returns the text of a response. */
const getText = (...request) => getResponse(...request).getContentText('UTF-8')

/**
 * Returns a response. Waits on 429 and 503. Throws the service's message on any other error, and in the last attempt, with
 * the status.
 */
function getResponse({ baseUrl, apiKey }, path, query = {}, attempts = 5) {
  const parameters = Object.entries(query)
    .filter(([, value]) => value)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  const url = `${baseUrl}/api/export/v1/${path}?${parameters.join('&')}`
  for (let attempt = 1; ; attempt++) {
    // A redirect would send the key to another address.
    const options = { headers: { 'X-API-Key': apiKey }, followRedirects: false, muteHttpExceptions: true }
    const response = UrlFetchApp.fetch(url, options)
    const status = response.getResponseCode()
    if (status === 200) return response
    if ((status !== 429 && status !== 503) || attempt === attempts)
      throw Object.assign(new Error(messageOf(status, response.getContentText('UTF-8'))), { status })
    Utilities.sleep(Number(headerOf(response, 'retry-after') ?? '5') * 1000)
  }
}

/** Returns the value of a header, whose name is in lower case here. */
const headerOf = (response, header) =>
  Object.entries(response.getHeaders()).find(([name]) => name.toLowerCase() === header)?.[1]

function messageOf(status, text) {
  try {
    return JSON.parse(text).error
  } catch {
    // A proxy answered.
    return `The service answered ${status}.`
  }
}

/** Returns the rows of a window as arrays of values, in the order of the fields. An empty cell is null. */
function getRows(connection, { id, fields }, window, toValue) {
  const response = getResponse(connection, id, { ...window, format: 'csv' })
  const [names, ...records] = Utilities.parseCsv(response.getContentText('UTF-8'))
  // Google does not say what it does with a broken transfer.
  if (records.length !== Number(headerOf(response, 'x-expected-rows')))
    throw new Error(`The file of ${id} is incomplete, or its days changed. Load it again.`)
  const columns = fields.map(({ name, type }) => ({ type, index: names.indexOf(name) }))
  return records.map((cells) =>
    columns.map(({ type, index }) => (cells[index] === '' ? null : toValue(type, cells[index]))),
  )
}

/** Returns the endpoints that the service's OpenAPI document describes, with the fields of their rows. */
function getEndpoints(connection) {
  const { paths, components } = JSON.parse(getText(connection, 'openapi.json'))
  const lastSegment = (path) => path.slice(path.lastIndexOf('/') + 1)
  const endpoints = Object.entries(paths).map(([path, { get }]) => {
    const { items } = get.responses[200].content['application/json'].schema.properties.data
    const { properties, 'x-primary-key': key } = components.schemas[lastSegment(items.$ref)]
    const fields = Object.entries(properties).map(([name, { type, format, description, ...rest }]) => ({
      name,
      type: format ?? [type].flat()[0],
      description,
      isSummed: rest['x-aggregation'] === 'sum',
    }))
    return { id: lastSegment(path), title: get.summary, formula: get['x-formula'], key, fields }
  })
  return endpoints.filter(({ id }) => id !== 'changes')
}
