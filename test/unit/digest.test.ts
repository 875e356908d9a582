import { expect, test } from 'vitest'
import { digestOf, rowNumber, rowText } from '../../reference/digest.ts'
import vectors from '../../reference/digest-vectors.json' with { type: 'json' }
import { metricColumns } from '../fixtures/metric-columns.ts'

// The same table in PostgreSQL: test/e2e/sql/digest.test.ts.
test.each(vectors)('TypeScript computes the digest of: $name', ({ endpoint, rows, ...expected }) => {
  const columns = metricColumns(endpoint)
  expect(rows.map((row) => rowText(row, columns))).toEqual(expected.texts)
  expect(rows.map((row) => rowNumber(row, columns).toString(16).padStart(15, '0'))).toEqual(expected.numbers)
  expect(digestOf(rows, columns)).toBe(expected.digest)
  expect(digestOf(rows.toReversed(), columns)).toBe(expected.digest)
})
