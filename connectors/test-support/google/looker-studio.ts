type Options = Record<string, unknown>

/** Stands in for DataStudioApp: its builders write the JSON of the connectors' protocol. */
export const lookerStudio = () => ({
  createCommunityConnector: () => ({
    AuthType: enumeration('NONE OAUTH2 KEY PATH_KEY'),
    FieldType: enumeration('TEXT NUMBER BOOLEAN PERCENT YEAR_MONTH_DAY YEAR_MONTH_DAY_SECOND'),
    AggregationType: enumeration('SUM AVG AUTO'),
    newAuthTypeResponse: () => builder({}, { setAuthType: 'type' }),
    newSetCredentialsResponse: () => {
      const response = { errorCode: '' }
      return builder(
        response,
        {},
        {
          setIsValid: (isValid) => (response.errorCode = isValid ? 'NONE' : 'INVALID_CREDENTIALS'),
        },
      )
    },
    newUserError,
    getConfig,
    getFields: () => fieldsOf([]),
  }),
})

/** Values of an enumeration. Throws for an unknown one, which would be undefined in Apps Script. */
const enumeration = (names: string) =>
  new Proxy(Object.fromEntries(names.split(' ').map((name) => [name, name])), {
    get: (values, name) => {
      if (typeof name !== 'string' || !(name in values)) throw new Error(`Unknown value: ${String(name)}`)
      return values[name]
    },
  })

/** A builder of `built`: setters write a property each, actions do something else. All return the builder. */
function builder(
  built: Options,
  setters: Readonly<Record<string, string>>,
  actions: Readonly<Record<string, (value: unknown) => unknown>> = {},
): Options {
  const self: Options = { build: () => built }
  const add = (method: string, action: (value: unknown) => unknown) => {
    self[method] = (value: unknown) => {
      if (value === undefined) throw new Error(`Invalid argument: ${method}`)
      action(value)
      return self
    }
  }
  for (const [setter, property] of Object.entries(setters))
    add(setter, (value) => {
      built[property] = value
    })
  for (const [method, action] of Object.entries(actions)) add(method, action)
  return self
}

const newUserError = () => {
  const error: Options = {}
  const throwException = () => {
    throw new Error(String(error.text))
  }
  return Object.assign(builder(error, { setText: 'text', setDebugText: 'debugText' }), { throwException })
}

function getConfig() {
  const config: { dateRangeRequired?: unknown; configParams: Options[] } = { configParams: [] }
  const select = (type: string) => () => {
    const options: Options[] = []
    const entry: Options = { type, options }
    config.configParams.push(entry)
    return builder(
      entry,
      { setId: 'name', setName: 'displayName', setHelpText: 'helpText' },
      {
        addOption: (option) => {
          if (!isBuilder(option)) throw new Error('Invalid argument: addOption')
          options.push(option.build())
        },
      },
    )
  }
  return {
    newSelectSingle: select('SELECT_SINGLE'),
    newSelectMultiple: select('SELECT_MULTIPLE'),
    newOptionBuilder: () => builder({}, { setLabel: 'label', setValue: 'value' }),
    setDateRangeRequired: (isRequired: boolean) => {
      config.dateRangeRequired = isRequired
    },
    build: () => config,
  }
}

const isBuilder = (value: unknown): value is { build: () => Options } =>
  typeof value === 'object' && value !== null && 'build' in value

type Field = Options & { name?: string; semantics: Options }

function fieldsOf(fields: Field[]) {
  const add = (conceptType: string) => () => {
    const field: Field = { semantics: { conceptType } }
    fields.push(field)
    const setters = {
      setId: 'name',
      setName: 'label',
      setDescription: 'description',
      setAggregation: 'defaultAggregationType',
      setFormula: 'formula',
    }
    return builder(field, setters, {
      setType: (type) => {
        field.semantics.semanticType = type
      },
    })
  }
  return {
    newMetric: add('METRIC'),
    newDimension: add('DIMENSION'),
    forIds: (ids: readonly string[]) =>
      fieldsOf(
        ids.map((id) => {
          const field = fields.find(({ name }) => name === id)
          if (!field) throw new Error(`No field has the id ${id}.`)
          return field
        }),
      ),
    asArray: () => fields.map(({ name }) => ({ getId: () => name })),
    build: () => fields,
  }
}
