import { type AsyncBuffer, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { ByteWriter } from 'hyparquet-writer'
import { expect, test } from 'vitest'
import {
  bufferOf,
  type Column,
  deltaSchema,
  type Row,
  readParquet,
  startParquet,
} from '../../lib/share/parquet.ts'

const columns: readonly Column[] = [
  { name: 'text', type: 'string' },
  { name: 'day', type: 'date' },
  { name: 'count', type: 'long' },
  { name: 'rate', type: 'double' },
  { name: 'flag', type: 'boolean' },
  { name: 'time', type: 'timestamp' },
]

function write(rows: readonly (readonly unknown[])[]): AsyncBuffer {
  const writer = new ByteWriter()
  const file = startParquet(writer, columns)
  for (const values of rows) file.add(values)
  file.finish()
  return bufferOf(writer.getBytes())
}

async function read(file: AsyncBuffer, of = columns) {
  const rows: Row[] = []
  for await (const row of readParquet(file, of)) rows.push(row)
  return rows
}

const rows = [
  ['\uFEFFwith a byte order mark', '0001-01-01', 0, 33.3333, true, '1969-12-31T23:59:59.999Z'],
  ['', '1969-12-31', Number.MAX_SAFE_INTEGER, 0, false, '0001-01-01T00:00:00.001Z'],
  ['日本 😀 \u0001', '9999-12-31', -1, 100, null, '9999-12-31T23:59:59.999Z'],
  [null, null, null, null, null, null],
]

const named = (row: readonly unknown[]) => Object.fromEntries(columns.map(({ name }, i) => [name, row[i]]))

test('rows are the same after they are written and read, over row groups', async () => {
  const long = ['x'.repeat(4_000_000), null, null, null, null, null]
  const file = write([...rows, long, ...rows])
  expect((await parquetMetadataAsync(file)).row_groups.map(({ num_rows }) => Number(num_rows))).toEqual([
    5, 4,
  ])
  expect(await read(file)).toEqual([...rows, long, ...rows].map(named))
})

test('tells Spark that days are of the calendar of ISO 8601', async () => {
  const { key_value_metadata } = await parquetMetadataAsync(write(rows))
  // Spark reads files without this version, or of versions before 3.0.0, by its own settings.
  expect(key_value_metadata).toContainEqual({ key: 'org.apache.spark.version', value: '3.5.0' })
})

test('writes what drivers return, times of other zones, and null for undefined', async () => {
  const day = new Date('2026-10-01')
  expect(
    await read(write([[undefined, day, 7n, undefined, undefined, '2026-10-01T02:00:00.123456+02:00']])),
  ).toEqual([named([null, '2026-10-01', 7, null, null, '2026-10-01T00:00:00.123Z'])])
})

test('reads the columns it is asked for; null of those that the file lacks', async () => {
  const later: Column = { name: 'later', type: 'double' }
  expect(
    await read(write([['a', null, 1, 2, true, null]]), [later, { name: 'count', type: 'long' }]),
  ).toEqual([{ later: null, count: 1 }])
  expect(await read(write(rows), [later])).toEqual(rows.map(() => ({ later: null })))
})

test('another reader finds the types', async () => {
  const file = write([['a', '2026-10-01', 1, 0.5, true, '2026-10-01T09:00:00.123Z']])
  expect(await parquetReadObjects({ file })).toEqual([
    {
      ...{ text: 'a', day: new Date('2026-10-01'), count: 1n, rate: 0.5, flag: true },
      time: new Date('2026-10-01T09:00:00.123Z'),
    },
  ])
  const { schema } = await parquetMetadataAsync(file)
  expect(schema.slice(1).map((element) => [element.type, element.logical_type])).toEqual([
    ['BYTE_ARRAY', { type: 'STRING' }],
    ['INT32', { type: 'DATE' }],
    ['INT64', undefined],
    ['DOUBLE', undefined],
    ['BOOLEAN', undefined],
    ['INT64', { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' }],
  ])
  expect(new Set(schema.slice(1).map((element) => element.repetition_type))).toEqual(new Set(['OPTIONAL']))
})

test('the schema of Delta has every column, all nullable', () => {
  expect(JSON.parse(deltaSchema(columns.slice(4)))).toEqual({
    type: 'struct',
    fields: [
      { name: 'flag', type: 'boolean', nullable: true, metadata: {} },
      { name: 'time', type: 'timestamp', nullable: true, metadata: {} },
    ],
  })
})
