import { readFile } from 'node:fs/promises'
import { DefaultSettings, NewlineLiteral, tryFormat } from '@microsoft/powerquery-formatter'
import { TaskUtils } from '@microsoft/powerquery-parser'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { readStreams } from '../../connectors/definition/streams.ts'
import { call, pull } from '../support/call.ts'
import { type Tenant, tenant } from '../support/tenant.ts'
import { database } from '../support/world.ts'
import { fillMetrics } from './fill-metrics.ts'
import { readSection } from './power-query.ts'
import { asTable, fieldsOf, invoke, libraryOf, type Network, type Table } from './power-query-library.ts'

// No engine runs connectors/powerbi outside Windows and Microsoft's cloud. Microsoft's packages parse and format it. A
// small interpreter runs it over the real service.

const db = database()
const STREAMS = readStreams().filter(({ kind }) => kind !== 'changes')
const METRICS = STREAMS.filter(({ kind }) => kind === 'metric')

const read = (file: string) => readFile(new URL(`../../connectors/powerbi/${file}`, import.meta.url), 'utf8')
const source = await read('ExportApi.pq')

let its: Tenant

beforeAll(async () => {
  its = await tenant(db)
  await fillMetrics(db, its.brandId)
})

const RANGE = [new Date('2026-10-02T00:00:00Z'), new Date('2026-10-05T00:00:00Z')]
const window = () => ({ brandId: its.brandId, fromDate: '2026-10-02', toDate: '2026-10-04' })

/** Calls the connector. Returns the navigation table. */
async function open({
  range = RANGE,
  ...network
}: Partial<Network> & { range?: readonly (Date | null)[] } = {}): Promise<Table> {
  const library = libraryOf({
    key: its.key,
    send: (url, headers) => fetch(url, { headers }),
    wait: async () => {},
    ...network,
  })
  const contents = await (await readSection(source, library)).get('ExportApi.Contents')?.()
  return asTable(await invoke(contents, inject('serviceUrl'), ...range))
}

/** Opens the entry of a navigation table. */
async function enter(table: Table, key: string): Promise<Table> {
  for (const row of table.rows)
    if ((await row.get('Key')?.()) === key) return asTable(await row.get('Data')?.())
  throw new Error(`The navigation table has no ${key}.`)
}

const metric = async (network: Parameters<typeof open>[0], endpoint: string) =>
  enter(await enter(await open(network), its.brandId), endpoint)

const rowsOf = ({ rows }: Table) => Promise.all(rows.map(fieldsOf))

describe('connectors/powerbi', () => {
  test('parses as a section', async () => {
    const parsed = await TaskUtils.tryLexParse(DefaultSettings, source)
    expect(TaskUtils.isParseStageOk(parsed) && parsed.ast.kind).toBe('Section')
  })

  test(`is formatted as Microsoft's formatter does`, async () => {
    const formatted = await tryFormat({ ...DefaultSettings, newlineLiteral: NewlineLiteral.Unix }, source)
    expect(formatted).toMatchObject({ value: source })
  })

  test('the query of its README parses', async () => {
    const [, query = ''] = /```powerquery\n(.*?)```/s.exec(await read('README.md')) ?? []
    expect(query).toContain('ExportApi.Contents')
    expect(TaskUtils.isParseStageOk(await TaskUtils.tryLexParse(DefaultSettings, query))).toBe(true)
  })

  test('offers the brands, and the metrics of each', async () => {
    const root = await open()
    expect(await Promise.all(root.rows.map((row) => row.get('Key')?.()))).toEqual(['brands', its.brandId])
    const metrics = await enter(root, its.brandId)
    expect(await Promise.all(metrics.rows.map((row) => row.get('Name')?.()))).toEqual(
      METRICS.map(({ title }) => title),
    )
    const { data } = await call('/brands', { key: its.key })
    expect(await rowsOf(await enter(root, 'brands'))).toEqual(
      data.map((row) =>
        Object.fromEntries(STREAMS[0]?.columns.map(({ name, field }) => [name, row[field]]) ?? []),
      ),
    )
  })

  test.for(METRICS)('loads the days of $name from RangeStart until RangeEnd', async ({
    endpoint,
    columns,
    key,
  }) => {
    const table = await metric({}, endpoint)
    expect(table.columns).toEqual(columns.map(({ name }) => name))
    expect(table.key).toEqual(key)
    const served = await pull(`/${endpoint}`, { key: its.key, query: window() })
    expect(served.length).toBeGreaterThan(endpoint === 'citations' ? 1000 : 0)
    expect(await rowsOf(table)).toEqual(served.map((row) => ({ brand_id: its.brandId, ...row })))
  })

  test('loads the last 30 days without parameters, and the columns of a window without rows', async () => {
    const urls: URL[] = []
    const send: Network['send'] = (url, headers) => {
      urls.push(url)
      return fetch(url, { headers })
    }
    await metric({ range: [], send }, 'sentiment')
    expect(urls.at(-1)?.search).toBe(`?brandId=${its.brandId}`)
    const day = new Date('2026-09-01T00:00:00Z')
    const empty = await metric({ range: [day, new Date('2026-09-02T00:00:00Z')] }, 'sentiment')
    expect(empty.rows).toEqual([])
    expect(empty.columns).toContain('sentiment_score')
  })

  test('waits Retry-After seconds on 429 and 503, and after a dropped connection', async () => {
    const failures = [
      () => answer(429, 'Too many', { 'Retry-After': '7' }),
      () => answer(503, 'Retry the request.', { 'Retry-After': '2' }),
      () => Promise.reject(new Error('socket hang up')),
    ]
    const waits: number[] = []
    const table = await metric(
      {
        send: (url, headers) =>
          (url.pathname.endsWith('/sentiment') && failures.shift()?.()) || fetch(url, { headers }),
        wait: async (ms) => waits.push(ms),
      },
      'sentiment',
    )
    expect(table.rows).toHaveLength(3)
    expect(waits).toEqual([7000, 2000, 5000])
  })

  test('ends after 30 tries', async () => {
    const waits: number[] = []
    const network = {
      send: () => answer(503, 'Retry the request.', {}),
      wait: async (ms: number) => waits.push(ms),
    }
    await expect(open(network).then(rowsOf)).rejects.toThrow('Retry the request.')
    expect(waits).toHaveLength(30)
  })

  test(`fails with the service's sentence`, async () => {
    const key = `${its.key.slice(0, -4)}0000`
    const { error } = await call('/brands', { key })
    await expect(open({ key }).then(rowsOf)).rejects.toThrow(error)
    await expect(metric({ range: [null, RANGE[0] ?? null] }, 'sentiment')).rejects.toThrow('fromDate')
  })

  test('sends its own User-Agent', async () => {
    const agents = new Set<string | undefined>()
    const send: Network['send'] = (url, headers) => {
      agents.add(headers['User-Agent'])
      return fetch(url, { headers })
    }
    await metric({ send }, 'visibility')
    expect([...agents]).toEqual(['export-api-powerbi/1.0.0'])
  })
})

const answer = async (status: number, error: string, headers: Record<string, string>) =>
  Response.json({ error }, { status, headers })
