import { describe, expect, test } from 'vitest'
import { parameterNames, parseParameters } from '../../lib/page/request.ts'
import { HttpError, PARAMETER_ERRORS } from '../../lib/request/errors.ts'

const ID = 'abcdefab-1111-1111-1111-111111111111'

const parse = (query: Record<string, string>) =>
  parseParameters(new URLSearchParams({ brandId: ID, ...query }), 'changes')

/** Status and message of the error, or null. */
function errorOf(query: string, kind: 'metric' | 'changes' = 'changes'): string | null {
  return thrownBy(() => parseParameters(new URLSearchParams(query), kind))
}

/** Status and message of the error that a function throws, or null. */
function thrownBy(work: () => unknown): string | null {
  try {
    work()
    return null
  } catch (error) {
    if (error instanceof HttpError) return `${error.status} ${error.message}`
    throw error
  }
}

test('returns what was sent, and leaves absent what was not', () => {
  expect(parse({})).toEqual({ brandId: ID })
  const query = { fromDate: '2026-10-01', toDate: '2026-10-02', cursor: 'cA' }
  expect(parse(query)).toEqual({ brandId: ID, ...query })
})

test.each([
  ['0001-01-01T00:00:00.000000Z', '0001-01-01T00:00:00.000000Z'],
  ['2024-02-29T23:59:59.999999Z', '2024-02-29T23:59:59.999999Z'],
  ['2026-10-01T00:00:00Z', '2026-10-01T00:00:00.000000Z'],
  ['2026-10-01T00:00:00.1Z', '2026-10-01T00:00:00.100000Z'],
  ['2026-10-01T00:00:00.123Z', '2026-10-01T00:00:00.123000Z'],
  ['2026-10-01T00:00:00.000001+00:00', '2026-10-01T00:00:00.000001Z'],
  ['2026-10-01T00:15:00.123456+05:45', '2026-09-30T18:30:00.123456Z'],
  ['2026-12-31T23:59:59.9-08:00', '2027-01-01T07:59:59.900000Z'],
  ['0001-01-01T00:00:00+14:00', '0000-12-31T10:00:00.000000Z'],
  ['9999-12-31T23:59:59.5-14:00', '9999-12-31T23:59:59.500000Z'],
])('since=%s is %s', (since, instant) => {
  expect(parse({ since })).toEqual({ brandId: ID, since: instant })
})

test('a metric does not know since', () => {
  expect(parameterNames('metric')).toEqual(['brandId', 'fromDate', 'toDate', 'cursor', 'format'])
})

test('accepts a brandId with any digits, in either case, as Postgres does', () => {
  for (const id of [
    ID,
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    'a0000000-0000-0000-0000-000000000001',
    '12345678-1234-0234-0234-123456789abc',
    '12345678-1234-f234-f234-123456789abc',
  ]) {
    expect(parse({ brandId: id.toUpperCase() })).toEqual({ brandId: id })
  }
})

test.each(['0001-01-01', '9999-12-31', '2024-02-29', '2000-02-29', '2026-12-31'])('%s is a day', (date) => {
  expect(parse({ fromDate: date })).toEqual({ brandId: ID, fromDate: date })
  expect(parse({ toDate: date })).toEqual({ brandId: ID, toDate: date })
})

test.each([
  ['brandId', `brandId=${ID}&brandId=${ID}`],
  ['fromDate', `brandId=${ID}&fromDate=2026-02-01&fromDate=2026-02-01`],
  ['toDate', `brandId=${ID}&toDate&toDate`],
  ['since', `brandId=${ID}&since=2026-10-01T00:00:00.000000Z&since=2026-10-01T00:00:00.000000Z`],
  ['cursor', `brandId=${ID}&cursor=1`],
  ['cursor', `brandId=${ID}&cursor=a&cursor=b`],
  ['cursor', `brandId=${ID}&cursor=&cursor=`],
  ['format', `brandId=${ID}&format=json&format=json`],
  ['cursor', `brandId=${ID}&format=csv&cursor=cA`],
])('names the parameter that is wrong: %s in ?%s', (name, query) => {
  expect(errorOf(query)).toMatch(new RegExp(`^400 .*\\b${name}\\b`))
})

const NOT_UUIDS = [
  'acme',
  '11111111-1111-1111-1111-11111111111',
  '11111111-1111-1111-1111-1111111111111',
  '11111111111111111111111111111111',
  '{11111111-1111-1111-1111-111111111111}',
  ' 11111111-1111-1111-1111-111111111111',
  '11111111-1111-1111-1111-111111111111\n',
  '11111111-1111-1111-1111-11111111111g',
  '11111111-1111-1111-1111-11111111111\0',
  "' or true --",
]

const NOT_DAYS = [
  '',
  ...['2026-02-30', '2023-02-29', '1900-02-29', '2026-13-01', '2026-00-10', '2026-01-00', '2026-04-31'],
  ...['20260201', '2026-1-1', '26-01-01', '0000-01-01', '10000-01-01', '+010000-01-01', '-0001-01-01'],
  ...[' 2026-01-01', '2026-01-01 ', '2026-01-01\n', '2026-01-01\0', '2026-01-01T00:00:00Z', '2026/01/01'],
  ...['01-02-2026', '２０２６-01-01', 'infinity', '-infinity', 'now', 'today', 'epoch', 'null'],
]

const NOT_INSTANTS = [
  '',
  ...['2026-10-01', '2026-10-01T00:00Z', '2026-10-01T00:00:00.1234567Z', '2026-10-01T00:00:00.Z'],
  ...['2026-10-01T00:00:00.000000', '2026-10-01T00:00:00 00:00', '2026-10-01 00:00:00.000000Z'],
  ...['2026-10-01T00:00:00+0000', '2026-10-01T00:00:00+00', '2026-10-01T00:00:00+24:00'],
  ...['2026-10-01t00:00:00.000000z', '2026-10-01T00:00:00,000000Z', '2026-10-01T00:00:00.000000Z\n'],
  ...['2026-02-30T00:00:00.000000Z', '2026-10-01T24:00:00.000000Z', '2026-10-01T23:59:60.000000Z'],
  ...['0000-01-01T00:00:00.000000Z', '10000-01-01T00:00:00.000000Z', '-infinity', 'infinity', 'now'],
  ...['２０２６-10-01T00:00:00.000000Z', '1790000000', 'null'],
]

test.each([
  ...NOT_INSTANTS.map((value) => ['since', value] as const),
  ...NOT_UUIDS.map((value) => ['brandId', value] as const),
  ...NOT_DAYS.flatMap((value) => [['fromDate', value] as const, ['toDate', value] as const]),
])('%s=%j is malformed', (name, value) => {
  const { [name]: message } = PARAMETER_ERRORS
  expect(errorOf(String(new URLSearchParams({ brandId: ID, [name]: value })))).toBe(`400 ${message}`)
})

test('a metric needs a brand, and the changes do not', () => {
  expect(errorOf('', 'metric')).toBe(`400 ${PARAMETER_ERRORS.missing('brandId')}`)
  expect(errorOf('')).toBeNull()
  expect(errorOf('brandId')).toBe(`400 ${PARAMETER_ERRORS.brandId}`)
})

test('rejects a start after the end, and accepts a single day', () => {
  expect(errorOf(`brandId=${ID}&fromDate=2026-10-02&toDate=2026-10-01`)).toMatch(/^400 .*fromDate.*toDate/)
  expect(errorOf(`brandId=${ID}&fromDate=2026-10-01&toDate=2026-10-01`)).toBeNull()
})

test('ignores names that mean none of the parameters, however often they are sent', () => {
  const names =
    '_ x v t debug utm_source callback api_key access_token sort order fields timezone timestamp timeout'
  for (const name of [...names.split(' '), 'model_id', '__proto__', 'constructor', 'filter', '']) {
    expect(errorOf(`brandId=${ID}&${name}=1&${name}=2`, 'metric'), name).toBeNull()
    expect(errorOf(`brandId=${ID}&${name}=1&${name}=2`, 'changes'), name).toBeNull()
  }
})

const { misnamed, dates, position, size, sinceOfMetric } = PARAMETER_ERRORS

test.each([
  [
    misnamed('brandId'),
    'brandid brand_id brand-id BRANDID brand brands brandID brandId[] brandId[0] brand.id id ids brand_name',
  ],
  [misnamed('brandId'), 'filter[brand] filter[brand_id] brand_id__in brandUuid'],
  [
    misnamed('fromDate'),
    'fromdate FromDate from_date from-date FROM_DATE from From fromDay fromDates dateFrom date_from',
  ],
  [
    misnamed('fromDate'),
    'start startDate start_date start-date startTime begin begin_date since_date minDate timeMin',
  ],
  [
    misnamed('fromDate'),
    'date[gte] date__gte created[gte] created_after filter[date][from] firstDay start_at',
  ],
  [
    misnamed('toDate'),
    'todate to_date to end endDate end_date date_to dateTo until till before_date date[lte] lastDay',
  ],
  [
    misnamed('toDate'),
    'created_before filter[end_date] maxDate timeMax end_time date_until through untilDate',
  ],
  [dates, 'date Date day days filter[date] dateRange date_range period last_days month on_date date>='],
  [
    position,
    'Cursor nextCursor next_cursor page_token pageToken pageNumber page_number skip after starting_after next',
  ],
  [
    position,
    'continuation continuationToken page PAGE pages offset page[number] page[after] $skip $skiptoken before',
  ],
  [
    position,
    'ending_before next_page nextPageToken page[cursor] pageIndex page_num marker scroll_id start_cursor',
  ],
  [
    size,
    'limit page_size per_page pageSize per-page count $top page[size] page[limit] max_results maxResults first take',
  ],
  [size, 'size top rows batch_size results_per_page limits num_rows $count fetch_size'],
  [
    misnamed('format'),
    'Format $format output accept type content_type fileFormat file_format responseType csv ndjson',
  ],
])('a 400 says %s: %s', (message, names) => {
  for (const name of names.split(' '))
    for (const kind of ['metric', 'changes'] as const)
      expect(errorOf(`brandId=${ID}&${encodeURIComponent(name)}=1`, kind), name).toBe(`400 ${message}`)
})

test('names that mean since are misnamed on the changes, and lead from a metric to the changes', () => {
  for (const name of [
    'Since',
    'updated_since',
    'modified_since',
    'changed_at',
    'updatedAfter',
    'If-Modified-Since',
  ]) {
    expect(errorOf(`brandId=${ID}&${name}=1`), name).toBe(`400 ${misnamed('since')}`)
    expect(errorOf(`brandId=${ID}&${name}=1`, 'metric'), name).toBe(`400 ${sinceOfMetric}`)
  }
  expect(errorOf(`brandId=${ID}&since=2026-10-01T00:00:00Z`, 'metric')).toBe(`400 ${sinceOfMetric}`)
})

test('the days alone take an endpoint, and no end', () => {
  for (const name of ['Endpoint', 'end_point', 'endpoints', 'metric']) {
    expect(
      thrownBy(() => parseParameters(new URLSearchParams([[name, 'citations']]), 'days')),
      name,
    ).toBe(`400 ${misnamed('endpoint')}`)
    expect(parse({ [name]: 'citations' })).toEqual({ brandId: ID })
  }
  for (const name of ['toDate', 'until', 'date'])
    expect(
      thrownBy(() => parseParameters(new URLSearchParams([[name, '2026-10-01']]), 'days')),
      name,
    ).toBe(`400 ${PARAMETER_ERRORS.endOfDays}`)
})

test('/brands ignores all but what resembles format', () => {
  expect(
    parseParameters(new URLSearchParams('from=x&page=2&brand_id=x&limit=1&since=x&id=x'), 'brands'),
  ).toEqual({})
  for (const name of ['Format', 'output', 'fileType', 'csv'])
    expect(thrownBy(() => parseParameters(new URLSearchParams([[name, 'csv']]), 'brands'))).toBe(
      `400 ${misnamed('format')}`,
    )
})

test.each(['json', 'csv', 'ndjson'])('%s is a format', (format) => {
  expect(parse({ format })).toEqual({ brandId: ID, format })
  expect(parse({ format, cursor: '' })).toEqual({ brandId: ID, format })
})

describe('the format of the brands', () => {
  const formatOf = (query: string) => parseParameters(new URLSearchParams(query), 'brands').format

  test('is JSON by default, and JSON ignores a cursor', () => {
    expect([formatOf(''), formatOf('format=json&cursor=cA')]).toEqual([undefined, 'json'])
    expect(formatOf('format=ndjson&cursor=')).toBe('ndjson')
  })

  test.each<[query: string, message: string]>([
    ...['CSV', 'csv ', 'xml', 'null', 'application/json', ''].map((format): [string, string] => [
      `format=${format}`,
      PARAMETER_ERRORS.format,
    ]),
    ['format=csv&format=csv', PARAMETER_ERRORS.repeated('format')],
    ['format=csv&cursor=cA', PARAMETER_ERRORS.cursorOfFile],
    ['format=ndjson&cursor=1', PARAMETER_ERRORS.cursorOfFile],
    ['format=csv&cursor=&cursor=1', PARAMETER_ERRORS.cursorOfFile],
  ])('?%s is a 400', (query, message) => {
    expect(thrownBy(() => formatOf(query))).toBe(`400 ${message}`)
  })
})
