import { expect, test } from 'vitest'
import { type Column, readParquet, startParquet } from '../../lib/share/parquet.ts'

const columns: readonly Column[] = [
  { name: 'text', type: 'string' },
  { name: 'date', type: 'date' },
  { name: 'count', type: 'long' },
  { name: 'rate', type: 'double' },
  { name: 'flag', type: 'boolean' },
]

async function readAll(...[content]: Parameters<typeof readParquet>) {
  const rows: Readonly<Record<string, unknown>>[] = []
  for await (const row of readParquet(content)) rows.push(row)
  return rows
}

test('rows are the same after they are read and written again, to the last character', async () => {
  const rows = [
    ['\uFEFFwith a byte order mark', '0001-01-01', 0, 33.3333, true],
    ['', '1969-12-31', Number.MAX_SAFE_INTEGER, 0, false],
    ['日本 😀 \u0001', '9999-12-31', -1, 100, null],
    [null, null, null, null, null],
  ]
  const write = (values: typeof rows | unknown[][]) => {
    const file = startParquet(columns)
    file.add(values)
    return file.finish()
  }
  const read = await readAll(write(rows))
  expect(read.map(({ text, count }) => [text, count === null ? null : Number(count)])).toEqual(
    rows.map(([text, , count]) => [text, count]),
  )
  const again = await readAll(write(read.map((row) => columns.map(({ name }) => row[name]))))
  expect(again).toEqual(read)
})
