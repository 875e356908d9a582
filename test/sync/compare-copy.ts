import { isDeepStrictEqual } from 'node:util'
import type pg from 'pg'
import { digestOf } from '../../site/reference/digest.ts'
import type { Row } from '../fixtures/call.ts'
import { findEndpoints } from '../fixtures/endpoints.ts'
import { metricColumns } from '../fixtures/metric-columns.ts'
import { type Copy, dayKey } from './copy.ts'
import { storedRows } from './stored-rows.ts'

export const METRICS = (await findEndpoints()).filter(({ kind }) => kind === 'metric')

/** Days of a copy whose number of rows, sums or digest are not those that /changes lists. */
export function unlisted({ days }: Copy, changes: readonly Row[]): unknown[] {
  const listed = new Map(changes.map((change) => [dayKey(change), change]))
  return [...new Set([...listed.keys(), ...days.keys()])].flatMap((day) => {
    const { rows, totals, digest } = listed.get(day) ?? NOT_LISTED
    const copied = days.get(day) ?? []
    const sums = Object.keys(Object(totals)).map((field) => [field, sum(copied, field)])
    const found = {
      rows: copied.length,
      totals: Object.fromEntries(sums),
      digest: digestOf(copied, metricColumns(day.split(' ')[0] ?? '')),
    }
    return isDeepStrictEqual(found, { rows, totals, digest })
      ? []
      : [{ day, found, listed: { rows, totals, digest } }]
  })
}

const NOT_LISTED = { rows: 0, totals: {}, digest: digestOf([], []) }

// Decimals have four places.
const sum = (rows: readonly Row[], field: string): number =>
  rows.reduce((total, row) => total + Math.round(Number(row[field]) * 10_000), 0) / 10_000

/** Endpoints whose stored rows are not those of a copy. */
export async function inexact(db: pg.Pool | pg.ClientBase, { brandId, days }: Copy): Promise<unknown[]> {
  const found: unknown[] = []
  for (const endpoint of METRICS) {
    const keys = [...days.keys()].filter((key) =>
      key.startsWith(dayKey({ endpoint: endpoint.name, date: '' })),
    )
    const copied = sorted(keys.flatMap((key) => days.get(key) ?? []))
    const stored = sorted(await storedRows(db, { ...endpoint, brandId }))
    if (!isDeepStrictEqual(copied, stored)) found.push({ endpoint: endpoint.name, copied, stored })
  }
  return found
}

/** Returns rows as sorted texts, whatever the order of their members. */
export const sorted = (rows: readonly Row[]): string[] =>
  rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort()
