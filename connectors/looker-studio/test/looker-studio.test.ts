import { beforeAll, expect, inject, test } from 'vitest'
import { readStreams } from '../../../site/reference/streams.ts'
import { call } from '../../../test/fixtures/call.ts'
import { addHostileTexts } from '../../../test/fixtures/hostile-texts.ts'
import { database } from '../../../test/fixtures/rows.ts'
import { type Tenant, tenant } from '../../../test/fixtures/tenant.ts'
import { runScript } from '../../test-support/apps-script.ts'
import { fillMetrics } from '../../test-support/fill-metrics.ts'
import { served } from '../../test-support/served.ts'

// Runs the connector in Node, over an imitation of DataStudioApp and the real service.

const db = database()
const STREAMS = readStreams().filter(({ kind }) => kind !== 'changes')
const dateRange = { startDate: '2026-10-02', endDate: '2026-10-04' }

let its: Tenant

beforeAll(async () => {
  its = await tenant(db)
  await fillMetrics(db, its.brandId)
  await addHostileTexts(db, its.brandId, '2026-10-04')
})

type Field = { readonly Id: string; readonly kind: string; readonly Type: string; readonly Formula?: string }
type Data = { readonly schema: readonly Field[]; readonly rows: readonly { values: unknown[] }[] }
type Built = Record<string, unknown>

/** Returns an object whose setters write a property each, and return it. */
function builder(built: Built, methods: Record<string, unknown> = {}): unknown {
  const self: unknown = new Proxy(methods, {
    get: (_, method: string) => {
      if (method === 'build') return () => built
      if (method in methods) return methods[method]
      return (value: unknown) => {
        if (value === undefined) throw new Error(`Invalid argument: ${method}`)
        built[method.slice('set'.length)] = value
        return self
      }
    },
  })
  return self
}

const fieldList = (fields: Built[]): object => {
  const add = (kind: string) => () => {
    const field = { kind }
    fields.push(field)
    return builder(field)
  }
  return {
    newMetric: add('METRIC'),
    newDimension: add('DIMENSION'),
    forIds: (ids: string[]) => fieldList(ids.map((id) => fields.find(({ Id }) => Id === id) ?? {})),
    asArray: () => fields.map(({ Id }) => ({ getId: () => Id })),
    build: () => fields,
  }
}

function getConfig() {
  const selects: Built[] = []
  const newSelectSingle = () => {
    const options: unknown[] = []
    const select = { options }
    selects.push(select)
    return builder(select, { addOption: (option: { build: () => unknown }) => options.push(option.build()) })
  }
  return builder({ selects }, { newSelectSingle, newOptionBuilder: () => builder({}) })
}

const newUserError = () => {
  const error: Built = {}
  const throwException = () => {
    throw new Error(String(error.Text))
  }
  return builder(error, { throwException })
}

const names = (list: string) => Object.fromEntries(list.split(' ').map((name) => [name, name]))

const DataStudioApp = {
  createCommunityConnector: () => ({
    AuthType: names('PATH_KEY'),
    FieldType: names('TEXT NUMBER BOOLEAN PERCENT YEAR_MONTH_DAY YEAR_MONTH_DAY_SECOND'),
    AggregationType: names('SUM AUTO'),
    newAuthTypeResponse: () => builder({}),
    newSetCredentialsResponse: () => builder({}),
    newUserError,
    getConfig,
    getFields: () => fieldList([]),
  }),
}

const credentials = (key: string) => ({ pathKey: { path: `${inject('serviceUrl')}/`, key } })

function signIn(key = its.key) {
  const { script } = runScript('looker-studio', { DataStudioApp })
  const run = <Result>(name: string, argument?: unknown) => script[name]?.<Result>(argument)
  run('setCredentials', credentials(key))
  return run
}

const request = (endpoint: string, fields: readonly string[], brandId = its.brandId) => ({
  configParams: { endpoint, brandId },
  dateRange,
  fields: fields.map((name) => ({ name })),
})

test('accepts a key that the service accepts, asks for another after a revocation, and not in an outage', async () => {
  const own = await tenant(db)
  const { script, queue } = runScript('looker-studio', { DataStudioApp })
  const isValid = () => script.isAuthValid?.()
  expect(script.getAuthType?.()).toEqual({ AuthType: 'PATH_KEY' })
  script.setCredentials?.(credentials('svc_live_wrong'))
  expect(isValid()).toBe(false)
  expect(script.setCredentials?.(credentials(own.key))).toEqual({ IsValid: true })
  for (const status of [429, 500, 503]) {
    queue.push({ status, text: '{"error":"Later."}', headers: { 'Retry-After': '1' } })
    expect(isValid()).toBe(true)
  }
  await db.query('update api_keys set revoked_at = now() where id = $1', [own.keyId])
  expect(isValid()).toBe(false)
  script.setCredentials?.(credentials(its.key))
  expect(isValid()).toBe(true)
  script.resetAuth?.()
  expect(isValid()).toBe(false)
})

test('offers the endpoints and the brands', () => {
  const { selects = [] } = signIn()<{ selects: { options: { Value: string }[] }[] }>('getConfig') ?? {}
  expect(selects.map(({ options }) => options.map(({ Value }) => Value))).toEqual([
    STREAMS.map(({ endpoint }) => endpoint),
    [its.brandId],
  ])
})

test.for(STREAMS)('returns the requested fields of $name in the dates of the report', async (stream) => {
  const { endpoint, kind, columns, totals } = stream
  const run = signIn()
  const { schema = [] } = run<Data>('getSchema', { configParams: { endpoint } }) ?? {}
  const fields = columns.filter(({ name }) => kind === 'brands' || name !== 'brand_id').reverse()
  const ids = fields.map(({ field }) => field)
  const plain = schema.filter(({ Formula }) => Formula === undefined)
  expect(plain.map(({ Id }) => Id).reverse()).toEqual(ids)
  expect(plain.filter((field) => field.kind === 'METRIC').map(({ Id }) => Id)).toEqual(totals)

  const data = run<Data>('getData', request(endpoint, ids))
  expect(data?.schema.map(({ Id }) => Id)).toEqual(ids)
  const query = { fromDate: dateRange.startDate, toDate: dateRange.endDate }
  const rows = await served(stream, { key: its.key, brandIds: [its.brandId], query })
  expect(rows.length).toBeGreaterThan(endpoint === 'citations' ? 1000 : 0)
  const values = (row: (typeof rows)[number]) => fields.map(({ field, type }) => written(type, row[field]))
  expect(data?.rows).toEqual(rows.map((row) => ({ values: values(row) })))
})

/** A value as Looker Studio reads it. Google reads an empty text as an empty cell. */
function written(type: string, value: unknown): unknown {
  if (value === '') return null
  if (type === 'date') return String(value).replaceAll('-', '')
  return type === 'timestamp' ? String(value).slice(0, 19).replaceAll(/\D/g, '') : value
}

test('calculates the rates of a period from sums', () => {
  const run = signIn()
  const formulas = STREAMS.flatMap(({ endpoint }) => {
    const { schema = [] } = run<Data>('getSchema', { configParams: { endpoint } }) ?? {}
    return schema.flatMap(({ Formula, Type }) => (Formula === undefined ? [] : [[endpoint, Type, Formula]]))
  })
  for (const formula of [
    ['visibility', 'PERCENT', '(SUM($visible_count)) / (SUM($total_prompts))'],
    ['sentiment', 'PERCENT', '(SUM($positive_weight)) / (SUM($positive_weight) + SUM($negative_weight))'],
    [
      'recommended-rate',
      'PERCENT',
      '(SUM(ROUND($recommended_rate * $judged_answers / 100, 0))) / (SUM($judged_answers))',
    ],
  ])
    expect(formulas).toContainEqual(formula)
})

test(`asks for the data when none is selected, and shows the service's message`, async () => {
  const own = await tenant(db)
  const run = signIn(own.key)
  expect(() => run('getSchema', {})).toThrow('Select the data')
  expect(() => run('getData', request('sentiment', ['date']))).toThrow(/brand/i)
  await db.query('update api_keys set revoked_at = now() where id = $1', [own.keyId])
  const { error } = await call('/brands', { key: own.key })
  expect(() => run('getData', request('sentiment', ['date'], own.brandId))).toThrow(error)
})
