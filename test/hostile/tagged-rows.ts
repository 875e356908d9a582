import type pg from 'pg'
import type { Row } from '../fixtures/call.ts'
import { daysAgo } from '../fixtures/clock.ts'
import type { Endpoint } from '../fixtures/endpoints.ts'
import { fillDaily } from '../fixtures/fill-daily.ts'

/** Rows of each endpoint that a marked brand has: so many days before today is each, one a day. */
export const MARKED_DAYS = [0, 1, 2, 3, 89, 90, 91, 179, 180, 181, 400] as const

const STRIDE = 10_000

/** Writes rows into every stored table, each with the brand's mark in its numbers and texts. */
export async function markBrand(
  db: pg.Pool,
  endpoints: readonly Endpoint[],
  { brandId, mark }: { brandId: string; mark: number },
): Promise<void> {
  const runs = [
    [400, 1],
    [181, 3],
    [91, 3],
    [3, 4],
  ] as const
  for (const { name } of endpoints.filter(({ kind }) => kind !== 'brands')) {
    for (const [index, [age, days]] of runs.entries()) {
      const from = mark * STRIDE + index * 100
      await fillDaily(db, { name, brandId, rows: days, first: daysAgo(age), days, from })
    }
  }
}

const isMarked = (value: Row[string]): boolean => Number.isInteger(value) || /^row \d+$/.test(String(value))

/** The marks of a page's rows: one for each value that carries one, so that a row put together from two shows both. */
export const marksOf = (rows: readonly Row[]): number[] =>
  rows.flatMap((row) =>
    Object.values(row)
      .filter(isMarked)
      .map((value) => Math.floor(Number(String(value).replace('row ', '')) / STRIDE)),
  )
