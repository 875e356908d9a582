import { readFile } from 'node:fs/promises'
import { DefaultSettings, NewlineLiteral, tryFormat } from '@microsoft/powerquery-formatter'
import { TaskUtils } from '@microsoft/powerquery-parser'
import { beforeAll, describe, expect, test } from 'vitest'
import { readStreams } from '../../connectors/definition/streams.ts'
import { call } from '../support/call.ts'
import { fillDaily } from '../support/daily.ts'
import { type Tenant, tenant } from '../support/tenant.ts'
import { database } from '../support/world.ts'

// No engine runs connectors/powerbi outside Windows and Microsoft's cloud: this checks what can be checked without one.

const db = database()
const STREAMS = readStreams().filter(({ kind }) => kind !== 'changes')
const source = await readFile(new URL('../../connectors/powerbi/ExportApi.pq', import.meta.url), 'utf8')

let its: Tenant

beforeAll(async () => {
  its = await tenant(db)
  for (const { endpoint, kind } of STREAMS)
    if (kind === 'metric')
      await fillDaily(db, { name: endpoint, brandId: its.brandId, rows: 1, first: '2026-10-01', days: 1 })
})

/** Reads the columns that the connector types for an endpoint, as their fields in JSON. */
function typedFields(endpoint: string): { field: string; type: string }[] {
  const [, record = ''] = source.split(`Endpoint = "${endpoint}",`)
  const [columns = ''] = record.split(/\n\s*\}\n/)
  return [...columns.matchAll(/\{"\w+", "(\w+)", ([\w. ]+)\}/g)].map(([, field = '', type = '']) => ({
    field,
    type,
  }))
}

describe('connectors/powerbi', () => {
  test('parses as a section', async () => {
    const parsed = await TaskUtils.tryLexParse(DefaultSettings, source)
    if (!TaskUtils.isParseStageOk(parsed)) throw new Error('ExportApi.pq does not parse.')
    expect(parsed.ast.kind).toBe('Section')
  })

  test(`is formatted as Microsoft's formatter does`, async () => {
    const formatted = await tryFormat({ ...DefaultSettings, newlineLiteral: NewlineLiteral.Unix }, source)
    expect(formatted).toMatchObject({ value: source })
  })

  test.for(STREAMS)('types each field that the service sends for $name', async ({ endpoint, kind }) => {
    const query =
      kind === 'metric' ? { brandId: its.brandId, fromDate: '2026-10-01', toDate: '2026-10-01' } : {}
    const { data } = await call(`/${endpoint}`, { key: its.key, query })
    const [row = {}] = data
    const fields = typedFields(endpoint).filter(({ field }) => field !== 'brand_id')
    expect(fields.map(({ field }) => field)).toEqual(Object.keys(row))
    for (const { field, type } of fields) expect(type, field).toMatch(typeOf(row[field]))
  })
})

/** The types of Power Query that take a value of JSON. */
function typeOf(value: unknown): RegExp {
  if (typeof value === 'number') return /^(Int64|Currency)\.Type$/
  if (typeof value === 'boolean') return /^type logical$/
  if (/^\d{4}-\d\d-\d\dT/.test(String(value))) return /^type datetimezone$/
  return /^\d{4}-\d\d-\d\d$/.test(String(value)) ? /^type date$/ : /^type text$/
}
