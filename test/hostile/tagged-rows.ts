import type pg from 'pg'
import type { Row } from '../fixtures/call.ts'
import { daysAgo } from '../fixtures/clock.ts'
import type { Endpoint } from '../fixtures/endpoints.ts'
import { fillDaily } from '../fixtures/fill-daily.ts'

const STRIDE = 10_000

/** Writes rows of four days into every stored table, each with the brand's mark in its numbers and texts. */
export async function markBrand(
  db: pg.Pool,
  endpoints: readonly Endpoint[],
  { brandId, mark }: { brandId: string; mark: number },
): Promise<void> {
  for (const { name } of endpoints.filter(({ kind }) => kind !== 'brands'))
    await fillDaily(db, { name, brandId, rows: 4, first: daysAgo(3), days: 4, from: mark * STRIDE })
}

const isMarked = (value: Row[string]): boolean => Number.isInteger(value) || /^row \d+$/.test(String(value))

/** The marks of a page's rows: one for each value that carries one, so that a row put together from two shows both. */
export const marksOf = (rows: readonly Row[]): number[] =>
  rows.flatMap((row) =>
    Object.values(row)
      .filter(isMarked)
      .map((value) => Math.floor(Number(String(value).replace('row ', '')) / STRIDE)),
  )
