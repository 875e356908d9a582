import { beforeAll, expect, inject, test } from 'vitest'
import { readStreams } from '../../../site/reference/streams.ts'
import { call, type Row } from '../../../test/fixtures/call.ts'
import { addHostileTexts } from '../../../test/fixtures/hostile-texts.ts'
import { database } from '../../../test/fixtures/rows.ts'
import { type Tenant, tenant } from '../../../test/fixtures/tenant.ts'
import { runScript } from '../../test-support/apps-script.ts'
import { fillMetrics } from '../../test-support/fill-metrics.ts'
import { served } from '../../test-support/served.ts'

// Runs the connector in Node, over the few functions of Google that it calls and the real service.

const db = database()
const STREAMS = readStreams().filter(({ kind }) => kind !== 'changes')
const dateRange = { startDate: '2026-10-02', endDate: '2026-10-04' }

let its: Tenant

beforeAll(async () => {
  its = await tenant(db)
  await fillMetrics(db, its.brandId)
  await addHostileTexts(db, its.brandId, '2026-10-04')
})

type Made = { [name: string]: unknown; readonly made: Made[] }
type Answer = { readonly schema: Made; readonly rows: unknown }

/** Imitates objects of Google: `set…` writes a property, `new…` and `get…` make an object. */
function imitate(object: Made): unknown {
  const methods: Readonly<Record<string, unknown>> = {
    addOption: () => {},
    asArray: () => object.made.map(({ Id }) => ({ getId: () => Id })),
    build: () => object,
    forIds: (ids: string[]) =>
      imitate({ made: ids.map((id) => object.made.find(({ Id }) => Id === id) ?? { made: [] }) }),
    throwException: () => expect.fail(String(object.Text)),
  }
  const make = (kind: string) => imitate(object.made[object.made.push({ kind, made: [] }) - 1] ?? object)
  const set = (name: string, value: unknown) => {
    object[name] = value
    return self
  }
  const method = (name: string) => (value: unknown) =>
    name.startsWith('set') ? set(name.slice(3), value) : make(name)
  // An enumeration has its members' names.
  const members = new Proxy({}, { get: (_, name) => name })
  const get = (_: object, name: string) => methods[name] ?? (/^[A-Z]/.test(name) ? members : method(name))
  const self: unknown = new Proxy({}, { get })
  return self
}

function signIn(key = its.key) {
  const { script, queue } = runScript('looker-studio', { DataStudioApp: imitate({ made: [] }) })
  const run = (name: string, argument?: unknown) => script[name]?.<Answer & Made>(argument) ?? expect.fail()
  const setCredentials = (key: string) =>
    run('setCredentials', { pathKey: { path: inject('serviceUrl'), key } })
  const fieldsOf = (endpoint: string) => run('getSchema', { configParams: { endpoint } }).schema.made
  return { run, queue, fieldsOf, setCredentials, credentials: setCredentials(key) }
}

const request = (endpoint: string, fields: readonly string[]) => ({
  configParams: { endpoint, brandId: its.brandId },
  dateRange,
  fields: fields.map((name) => ({ name })),
})

test(`offers endpoints and brands, and rejects a wrong key with the service's message`, async () => {
  const { run, credentials, setCredentials, queue } = signIn()
  expect(credentials.IsValid).toBe(true)
  expect(run('getConfig').made.flatMap(({ Value }) => Value ?? [])).toEqual([
    ...STREAMS.map(({ endpoint }) => endpoint),
    its.brandId,
  ])
  queue.push({ status: 403, text: '{"error":"No plan."}' })
  expect(run('isAuthValid')).toBe(true)
  const wrong = its.key.replace(/.{4}$/, '0000')
  expect(setCredentials(wrong).IsValid).toBe(false)
  const { error } = await call('/brands', { key: wrong })
  expect(() => run('getData', request('sentiment', ['date']))).toThrow(error)
})

test.for(STREAMS)('returns the requested fields of $name in the dates of the report', async (stream) => {
  const { endpoint, columns, totals } = stream
  const { run, fieldsOf } = signIn()
  const fields = columns.filter(({ field }) => field !== 'brand_id').reverse()
  const ids = fields.map(({ field }) => field)
  const plain = fieldsOf(endpoint).filter(({ Formula }) => Formula === undefined)
  expect(plain.map(({ Id }) => Id).reverse()).toEqual(ids)
  expect(plain.filter(({ kind }) => kind === 'newMetric').map(({ Id }) => Id)).toEqual(totals)

  const query = { fromDate: dateRange.startDate, toDate: dateRange.endDate }
  const rows = await served(stream, { key: its.key, brandIds: [its.brandId], query })
  expect(rows.length).toBeGreaterThan(endpoint === 'citations' ? 1000 : 0)
  expect(run('getData', request(endpoint, ids))).toMatchObject({
    schema: { made: ids.map((Id) => ({ Id })) },
    rows: rows.map((row) => ({ values: fields.map(({ field, type }) => written(type, row[field])) })),
  })
})

/** A value as Looker Studio reads it. */
const written = (type: string, value: Row[string] | undefined) =>
  /date|timestamp/.test(type) ? String(value).replaceAll(/\D/g, '').slice(0, 14) : value

test('calculates the rates of a period from sums', () => {
  const { fieldsOf } = signIn()
  for (const [endpoint, formula] of [
    ['sentiment', '(SUM($positive_weight)) / (SUM($positive_weight) + SUM($negative_weight))'],
    [
      'recommended-rate',
      '(SUM(ROUND($recommended_rate * $judged_answers / 100, 0))) / (SUM($judged_answers))',
    ],
  ] as const)
    expect(fieldsOf(endpoint).at(-1)).toMatchObject({ Type: 'PERCENT', Formula: formula })
})
