import { beforeAll, describe, expect, inject, test } from 'vitest'
import { readStreams } from '../../../reference/streams.ts'
import { call, pull, type Row } from '../../../test/fixtures/call.ts'
import { database } from '../../../test/fixtures/rows.ts'
import { type Tenant, tenant } from '../../../test/fixtures/tenant.ts'
import { fillMetrics } from '../../test-support/fill-metrics.ts'
import { type Script, startAppsScript } from '../../test-support/google/apps-script.ts'

// Runs connectors/looker-studio in Node, over a stand-in for DataStudioApp and the real service.

const db = database()
const STREAMS = readStreams().filter(({ kind }) => kind !== 'changes')

let its: Tenant

beforeAll(async () => {
  its = await tenant(db)
  await fillMetrics(db, its.brandId)
})

const credentials = (key: string) => ({ pathKey: { path: `${inject('serviceUrl')}/`, key } })

async function signIn(key = its.key): Promise<Script> {
  const script = startScript()
  await script.call('setCredentials', credentials(key))
  return script
}

type Field = {
  readonly name: string
  readonly semantics: { readonly conceptType: string; readonly semanticType: string }
  readonly defaultAggregationType?: string
  readonly formula?: string
}

type Data = {
  readonly schema: readonly Field[]
  readonly rows: readonly { readonly values: readonly unknown[] }[]
}

const dateRange = { startDate: '2026-10-02', endDate: '2026-10-04' }

const request = (stream: string, names: readonly string[]) => ({
  configParams: { stream },
  dateRange,
  fields: names.map((name) => ({ name })),
})

describe('connectors/looker-studio', () => {
  test('accepts a key that the service accepts, and no other', async () => {
    const { call: run } = startScript()
    expect(await run('getAuthType')).toEqual({ type: 'PATH_KEY' })
    expect(await run('isAuthValid')).toBe(false)
    expect(await run('setCredentials', credentials('svc_live_wrong'))).toEqual({
      errorCode: 'INVALID_CREDENTIALS',
    })
    expect(await run('isAuthValid')).toBe(false)
    expect(await run('setCredentials', credentials(its.key))).toEqual({ errorCode: 'NONE' })
    expect(await run('isAuthValid')).toBe(true)
    await run('resetAuth')
    expect(await run('isAuthValid')).toBe(false)
    expect(await run('isAdminUser')).toBe(false)
  })

  test('offers the streams and the brands', async () => {
    const { call: run } = await signIn()
    const { configParams, dateRangeRequired } = await run<{
      configParams: { name: string; options: { value: string }[] }[]
      dateRangeRequired: boolean
    }>('getConfig', { languageCode: 'en' })
    expect(dateRangeRequired).toBe(true)
    expect(configParams.map(({ name, options }) => [name, options.map(({ value }) => value)])).toEqual([
      ['stream', STREAMS.map(({ name }) => name)],
      ['brand_ids', [its.brandId]],
    ])
  })

  test.for(STREAMS)('returns the requested fields of $name in the dates of the report', async ({
    name,
    endpoint,
    kind,
    columns,
    totals,
    formula,
  }) => {
    const { call: run } = await signIn()
    const { schema } = await run<Data>('getSchema', { configParams: { stream: name } })
    const calculated = schema.filter(({ formula }) => formula !== undefined)
    expect(calculated).toHaveLength(formula === null ? 0 : 1)
    const plain = schema.filter(({ formula }) => formula === undefined)
    expect(plain.map(({ name }) => name)).toEqual(columns.map(({ name }) => name))
    const metrics = plain.filter(({ semantics }) => semantics.conceptType === 'METRIC')
    expect(metrics.map(({ name }) => name)).toEqual(totals)
    for (const { defaultAggregationType } of metrics) expect(defaultAggregationType).toBe('SUM')

    const names = columns.map(({ name }) => name).reverse()
    const data = await run<Data>('getData', request(name, names))
    expect(data.schema.map(({ name }) => name)).toEqual(names)
    const query = { brandId: its.brandId, fromDate: dateRange.startDate, toDate: dateRange.endDate }
    const rows =
      kind === 'listing'
        ? (await call('/brands', { key: its.key })).data
        : await pull(`/${endpoint}`, { key: its.key, query })
    expect(rows.length).toBeGreaterThan(endpoint === 'citations' ? 1000 : 0)
    const values = (row: Row) =>
      columns
        .map(({ field, type }) => written(type, field === 'brand_id' ? its.brandId : row[field]))
        .reverse()
    expect(data.rows).toEqual(rows.map((row) => ({ values: values(row) })))
  })

  test('calculates the rates of a period from sums', async () => {
    const { call: run } = await signIn()
    const formulas: Record<string, string | undefined> = {}
    for (const { name } of STREAMS.filter(({ formula }) => formula !== null)) {
      const { schema } = await run<Data>('getSchema', { configParams: { stream: name } })
      const field = schema.find(({ formula }) => formula !== undefined)
      expect(field).toMatchObject({
        semantics: { conceptType: 'METRIC', semanticType: 'PERCENT' },
        defaultAggregationType: 'AUTO',
      })
      for (const [, id] of field?.formula?.matchAll(/\$(\w+)/g) ?? [])
        expect(schema.map(({ name }) => name)).toContain(id)
      formulas[name] = field?.formula
    }
    expect(formulas).toEqual({
      visibility: 'SUM($visible_count) / (SUM($total_prompts))',
      competitors: 'SUM($competitor_visible_responses) / (SUM($total_responses))',
      citation_share: 'SUM($owned_citations) / (SUM($citations))',
      sentiment: 'SUM($positive_weight) / (SUM($positive_weight) + SUM($negative_weight))',
      recommended_rate: 'SUM(ROUND($recommended_rate * $judged_answers / 100, 0)) / (SUM($judged_answers))',
    })
  })

  test('asks for the data when none is selected', async () => {
    const { call: run } = await signIn()
    for (const configParams of [undefined, {}])
      await expect(run('getSchema', { configParams })).rejects.toThrow('Select the data')
  })

  test('reads the selected brands only', async () => {
    const { call: run } = await signIn()
    const { configParams, ...rest } = request('sentiment', ['date'])
    const selected = { ...rest, configParams: { ...configParams, brand_ids: its.brandId } }
    expect((await run<Data>('getData', selected)).rows).toHaveLength(3)
    const unknown = { ...rest, configParams: { ...configParams, brand_ids: (await tenant(db)).brandId } }
    await expect(run('getData', unknown)).rejects.toThrow(/brand/i)
  })

  test(`shows the service's sentence when the key is revoked`, async () => {
    const own = await tenant(db)
    const { call: run } = await signIn(own.key)
    await db.query('update api_keys set revoked_at = now() where id = $1', [own.keyId])
    const { error } = await call('/brands', { key: own.key })
    await expect(run('getData', request('sentiment', ['date']))).rejects.toThrow(error)
    await expect(run('getConfig', {})).rejects.toThrow(error)
  })
})

const startScript = () => startAppsScript({ folder: 'looker-studio' })

/** A value as Looker Studio reads it. */
function written(type: string, value: unknown): unknown {
  if (type === 'date') return String(value).replaceAll('-', '')
  if (type === 'timestamp') return String(value).slice(0, 19).replaceAll(/\D/g, '')
  return value
}
