const connector = DataStudioApp.createCommunityConnector()

// A run of Apps Script ends after 6 minutes.
const RUN_MS = 5 * 60_000

/** Asks for the service's address as path, and for the key. */
function getAuthType() {
  return connector.newAuthTypeResponse().setAuthType(connector.AuthType.PATH_KEY).build()
}

/** Stores the credentials of the user when the service accepts them. */
function setCredentials({ pathKey: { path, key } }) {
  const isValid = isAccepted({ baseUrl: path.trim().replace(/\/$/, ''), apiKey: key.trim() })
  return connector.newSetCredentialsResponse().setIsValid(isValid).build()
}

function isAccepted({ baseUrl, apiKey }) {
  try {
    getJson({ baseUrl, apiKey, deadline: Date.now() + RUN_MS }, 'brands', {})
  } catch {
    return false
  }
  PropertiesService.getUserProperties().setProperties({ base_url: baseUrl, api_key: apiKey })
  return true
}

/** Tells whether credentials are stored. A key that was revoked since fails with the service's sentence. */
function isAuthValid() {
  return PropertiesService.getUserProperties().getProperty('api_key') !== null
}

function resetAuth() {
  PropertiesService.getUserProperties().deleteProperty('base_url')
  PropertiesService.getUserProperties().deleteProperty('api_key')
}

/** Hides debug messages from the users of reports. */
function isAdminUser() {
  return false
}

function getConfig() {
  return withUserError(() => buildConfig(listBrands()))
}

function buildConfig(listed) {
  const config = connector.getConfig()
  const data = config.newSelectSingle().setId('stream').setName('Data')
  for (const { name, title } of STREAMS)
    data.addOption(config.newOptionBuilder().setLabel(title).setValue(name))
  const brands = config
    .newSelectMultiple()
    .setId('brand_ids')
    .setName('Brands')
    .setHelpText('All brands that the key reads when none is selected.')
  for (const { id, displayName } of listed)
    brands.addOption(config.newOptionBuilder().setLabel(displayName).setValue(id))
  config.setDateRangeRequired(true)
  return config.build()
}

function getSchema({ configParams }) {
  return withUserError(() => ({ schema: fieldsOf(streamOf(configParams)).build() }))
}

function getData(request) {
  return withUserError(() => readData(request))
}

function readData({ configParams, dateRange, fields }) {
  const stream = streamOf(configParams)
  const requested = fieldsOf(stream).forIds(fields.map(({ name }) => name))
  const columns = requested.asArray().map((field) => stream.fields.find(({ id }) => id === field.getId()))
  const rows = []
  for (const row of stream.hasWindow ? readWindow(stream, configParams, dateRange) : listBrands())
    rows.push({ values: columns.map(({ field, type }) => toValue(type, row[field])) })
  return { schema: requested.build(), rows, filtersApplied: false }
}

/** Yields the rows of each brand in the report's dates. */
function* readWindow({ endpoint }, { brand_ids }, { startDate, endDate }) {
  const connection = connect()
  const brandIds = brand_ids ? brand_ids.split(',') : listBrands().map(({ id }) => id)
  for (const brandId of brandIds) {
    const pages = pagesOf(connection, endpoint, { brandId, fromDate: startDate, toDate: endDate })
    for (const { data } of pages) for (const row of data) yield { ...row, brand_id: brandId }
  }
}

const listBrands = () => getJson(connect(), 'brands', {}).data

/** Shows an error to the user, instead of "The connector failed". */
function withUserError(action) {
  try {
    return action()
  } catch (error) {
    return connector.newUserError().setText(error.message).setDebugText(error.stack).throwException()
  }
}

/** Connects with the user's credentials. */
function connect() {
  const { base_url, api_key } = PropertiesService.getUserProperties().getProperties()
  return { baseUrl: base_url, apiKey: api_key, deadline: Date.now() + RUN_MS }
}

function streamOf(configParams) {
  const selected = STREAMS.find(({ name }) => name === configParams?.stream)
  if (!selected) throw new Error('Select the data in the configuration of the data source.')
  return selected
}

/** Returns the columns as fields, and the rate of a period as a calculated one. */
function fieldsOf({ name, title, fields, formula, per }) {
  const { FieldType, AggregationType } = connector
  const schema = connector.getFields()
  for (const { id, type, isSummed, description } of fields) {
    const field = isSummed ? schema.newMetric().setAggregation(AggregationType.SUM) : schema.newDimension()
    field.setId(id).setName(id).setType(FieldType[type]).setDescription(description)
  }
  if (formula) {
    schema
      .newMetric()
      .setId(`${name}_of_period`)
      .setName(`${title} of the period${per ? `, per ${per}` : ''}`)
      .setType(FieldType.PERCENT)
      .setAggregation(AggregationType.AUTO)
      .setFormula(formula)
  }
  return schema
}

/** Writes days as YYYYMMDD and times as YYYYMMDDHHMMSS, in UTC. */
function toValue(type, value) {
  if (value === null || !type.startsWith('YEAR')) return value
  return value.replace(/\D/g, '').slice(0, type === 'YEAR_MONTH_DAY' ? 8 : 14)
}
