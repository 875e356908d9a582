import { expect, test } from 'vitest'
import { digestOf, rowNumber, rowText } from '../../site/reference/digest.ts'
import vectors from '../../site/reference/digest-vectors.json' with { type: 'json' }
import { metricColumns } from '../fixtures/metric-columns.ts'

// The same table in PostgreSQL: test/e2e/sql/digest.test.ts.
test.each(vectors)('TypeScript computes the digest of: $name', (vector) => {
  const { endpoint, rows, texts, numbers, digest } = vector
  const columns = metricColumns(endpoint)
  const toDigits = (number: bigint) => number.toString(16).padStart(15, '0')
  expect({
    texts: rows.map((row) => rowText(row, columns)),
    numbers: rows.map((row) => toDigits(rowNumber(row, columns))),
    digest: digestOf(rows, columns),
  }).toEqual({ texts, numbers, digest })
  expect(digestOf(rows.toReversed(), columns)).toBe(digest)
})
