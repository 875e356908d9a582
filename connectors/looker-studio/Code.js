const connector = DataStudioApp.createCommunityConnector()

/** Asks for the service's address as path, and for the key. */
function getAuthType() {
  return connector.newAuthTypeResponse().setAuthType(connector.AuthType.PATH_KEY).build()
}

/** Stores the credentials of the user when the service accepts them. */
function setCredentials({ pathKey: { path, key } }) {
  let isValid = true
  try {
    const connection = toConnection(path, key)
    getJson(connection, 'brands')
    PropertiesService.getUserProperties().setProperties(connection)
  } catch {
    isValid = false
  }
  return connector.newSetCredentialsResponse().setIsValid(isValid).build()
}

/** Tells whether the service accepts the stored key. Otherwise, Looker Studio asks for another one. */
function isAuthValid() {
  const connection = connect()
  if (!connection.apiKey) return false
  try {
    send(connection, 'brands', {}, 1)
    return true
  } catch (error) {
    // A service that does not answer says nothing about the key.
    return error.status !== 401
  }
}

function resetAuth() {
  PropertiesService.getUserProperties().deleteAllProperties()
}

function getConfig() {
  return withUserError(() => {
    const connection = connect()
    const config = connector.getConfig()
    const data = config.newSelectSingle().setId('endpoint').setName('Data')
    for (const { id, title } of getEndpoints(connection))
      data.addOption(config.newOptionBuilder().setLabel(title).setValue(id))
    const brands = config.newSelectSingle().setId('brandId').setName('Brand')
    for (const { id, displayName } of getJson(connection, 'brands').data)
      brands.addOption(config.newOptionBuilder().setLabel(displayName).setValue(id))
    config.setDateRangeRequired(true)
    return config.build()
  })
}

function getSchema({ configParams }) {
  return withUserError(() => ({ schema: schemaOf(selectedEndpoint(configParams)).build() }))
}

/** Returns the requested fields of one file: the window is the dates of the report. */
function getData({ configParams, dateRange, fields }) {
  return withUserError(() => {
    const endpoint = selectedEndpoint(configParams)
    const schema = schemaOf(endpoint).forIds(fields.map(({ name }) => name))
    const requested = schema
      .asArray()
      .map((field) => endpoint.fields.find(({ name }) => name === field.getId()))
    const window = {
      brandId: configParams.brandId,
      fromDate: dateRange.startDate,
      toDate: dateRange.endDate,
    }
    const rows = getRows(connect(), { ...endpoint, fields: requested }, window, toValue)
    return { schema: schema.build(), rows: rows.map((values) => ({ values })), filtersApplied: false }
  })
}

/** Shows an error to the user, instead of "The connector failed". */
function withUserError(action) {
  try {
    return action()
  } catch (error) {
    return connector.newUserError().setText(error.message).throwException()
  }
}

const connect = () => PropertiesService.getUserProperties().getProperties()

function selectedEndpoint(configParams) {
  const endpoint = getEndpoints(connect()).find(({ id }) => id === configParams?.endpoint)
  if (!endpoint) throw new Error('Select the data in the configuration of the data source.')
  return endpoint
}

const FIELD_TYPES = {
  date: 'YEAR_MONTH_DAY',
  'date-time': 'YEAR_MONTH_DAY_SECOND',
  integer: 'NUMBER',
  number: 'NUMBER',
  boolean: 'BOOLEAN',
}

/** Returns the fields of an endpoint, and the rate of a period as a calculated one. */
function schemaOf({ id, title, fields, key, formula }) {
  const { FieldType, AggregationType } = connector
  const schema = connector.getFields()
  for (const { name, type, isSummed, description } of fields) {
    // A rate is a dimension: Looker Studio would average a metric over days.
    const field = isSummed ? schema.newMetric().setAggregation(AggregationType.SUM) : schema.newDimension()
    const fieldType = FieldType[FIELD_TYPES[type] ?? 'TEXT']
    field.setId(name).setName(name).setType(fieldType).setDescription(description)
  }
  if (!formula) return schema
  const per = formula.per ? `, per ${key.filter((name) => name !== 'date').join(' and ')}` : ''
  schema
    .newMetric()
    .setId(`${id.replaceAll('-', '_')}_of_period`)
    .setName(`${title} of the period${per}`)
    // A field of type PERCENT takes a share: 0.5 is 50 %.
    .setType(FieldType.PERCENT)
    .setAggregation(AggregationType.AUTO)
    .setFormula(`(${expression(formula.part)}) / (${expression(formula.whole)})`)
  return schema
}

/** Returns a side of a formula in the language of calculated fields, where `$` marks a field. */
const expression = (terms) =>
  terms
    .map((term) => (term.rate ? `ROUND($${term.rate} * $${term.of} / 100, 0)` : `$${term}`))
    .map((summand) => `SUM(${summand})`)
    .join(' + ')

/** Writes days as YYYYMMDD and times as YYYYMMDDHHMMSS, in UTC. */
function toValue(type, text) {
  if (type === 'integer' || type === 'number') return Number(text)
  if (type === 'boolean') return text === 'true'
  if (type === 'date') return text.replaceAll('-', '')
  return type === 'date-time' ? text.replace(/\D/g, '').slice(0, 14) : text
}
