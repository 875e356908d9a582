const connector = DataStudioApp.createCommunityConnector()
const FIELD_TYPES = { date: 'YEAR_MONTH_DAY', 'date-time': 'YEAR_MONTH_DAY_SECOND', boolean: 'BOOLEAN' }

const connect = () => PropertiesService.getUserProperties().getProperties()

/** Asks for the service's address as path, and for the key. */
function getAuthType() {
  return connector.newAuthTypeResponse().setAuthType(connector.AuthType.PATH_KEY).build()
}

function setCredentials({ pathKey: { path, key } }) {
  PropertiesService.getUserProperties().setProperties({ address: path, key })
  return connector.newSetCredentialsResponse().setIsValid(isAuthValid()).build()
}

/** Tells whether the service accepts the key. Otherwise, Looker Studio asks for another one. */
function isAuthValid() {
  try {
    return Boolean(get(connect(), 'brands'))
  } catch ({ status }) {
    // 403, 429 and 5xx say nothing about the key. A wrong setting has no status.
    return status > 401
  }
}

function resetAuth() {
  PropertiesService.getUserProperties().deleteAllProperties()
}

function getConfig() {
  return withUserError(() => {
    const config = connector.getConfig()
    const data = config.newSelectSingle().setId('endpoint').setName('Data')
    for (const { id, title } of getEndpoints(connect()))
      data.addOption(config.newOptionBuilder().setLabel(title).setValue(id))
    const brands = config.newSelectSingle().setId('brandId').setName('Brand')
    for (const { id, displayName } of get(connect(), 'brands').data)
      brands.addOption(config.newOptionBuilder().setLabel(displayName).setValue(id))
    config.setDateRangeRequired(true)
    return config.build()
  })
}

function getSchema({ configParams }) {
  return withUserError(() => ({ schema: schemaOf(selectedEndpoint(configParams)).build() }))
}

/** Returns the requested fields of the dates of the report. */
function getData({ configParams, dateRange, fields }) {
  return withUserError(() => {
    const endpoint = selectedEndpoint(configParams)
    const schema = schemaOf(endpoint).forIds(fields.map(({ name }) => name))
    const ids = schema.asArray().map((field) => field.getId())
    const requested = ids.map((id) => endpoint.fields.find(({ name }) => name === id))
    const { startDate: fromDate, endDate: toDate } = dateRange
    const query = { brandId: configParams.brandId, fromDate, toDate }
    const rows = getRows(connect(), { id: endpoint.id, fields: requested }, query, toValue)
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

function selectedEndpoint(configParams) {
  const endpoint = getEndpoints(connect()).find(({ id }) => id === configParams?.endpoint)
  if (!endpoint) throw new Error('Select the data in the configuration of the data source.')
  return endpoint
}

/** Returns the fields of an endpoint, and the rate of a period as a calculated one. */
function schemaOf({ id, title, fields, key, formula }) {
  const { FieldType, AggregationType } = connector
  const schema = connector.getFields()
  for (const { name, type, description, 'x-aggregation': aggregation } of fields) {
    // A rate is a dimension: Looker Studio would average a metric over days.
    const isMetric = aggregation === 'sum'
    const field = isMetric ? schema.newMetric().setAggregation(AggregationType.SUM) : schema.newDimension()
    const fieldType = /integer|number/.test(type) ? 'NUMBER' : (FIELD_TYPES[type] ?? 'TEXT')
    field.setId(name).setName(name).setType(FieldType[fieldType]).setDescription(description)
  }
  if (!formula) return schema
  const per = formula.per ? `, per ${key.filter((name) => name !== 'date').join(' and ')}` : ''
  const period = schema.newMetric().setId(`${id.replaceAll('-', '_')}_of_period`)
  // A field of type PERCENT takes a share: 0.5 is 50 %.
  period.setName(`${title} of the period${per}`).setType(FieldType.PERCENT)
  const quotient = `(${sumOf(formula.part)}) / (${sumOf(formula.whole)})`
  period.setAggregation(AggregationType.AUTO).setFormula(quotient)
  return schema
}

/** Returns a side of a formula in the language of calculated fields, where `$` marks a field. */
const sumOf = (terms) =>
  terms
    .map((term) => (term.rate ? `SUM(ROUND($${term.rate} * $${term.of} / 100, 0))` : `SUM($${term})`))
    .join(' + ')

/** Writes days as YYYYMMDD and times as YYYYMMDDHHMMSS, in UTC. */
const toValue = (type, value) => (type.startsWith('date') ? value.replace(/\D/g, '').slice(0, 14) : value)
