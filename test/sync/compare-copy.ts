import { isDeepStrictEqual } from 'node:util'
import type pg from 'pg'
import { fieldNames } from '../../lib/rows/schema.ts'
import { findEndpoints } from '../fixtures/endpoints.ts'

type Row = Readonly<Record<string, unknown>>

export const METRICS = (await findEndpoints()).filter(({ kind }) => kind === 'metric')

/** Metrics whose stored rows are not those of a copy, which has the rows of each table by their keys. */
export async function inexact(
  db: pg.Pool | pg.ClientBase,
  copy: ReadonlyMap<string, ReadonlyMap<string, Row>>,
): Promise<unknown[]> {
  const found: unknown[] = []
  for (const { name, row } of METRICS) {
    const table = name.replaceAll('-', '_')
    const columns = ['brand_id', ...fieldNames(row)].map((column) => `"${column}"`)
    const { rows } = await db.query<{ row: Row }>(
      `select to_jsonb(sent) as row from (select ${columns} from daily.${table}) as sent`,
    )
    const copied = sorted([...(copy.get(table)?.values() ?? [])])
    const stored = sorted(rows.map(({ row }) => row))
    if (!isDeepStrictEqual(copied, stored)) found.push({ table, copied, stored })
  }
  return found
}

/** Returns rows as sorted texts, whatever the order of their members. */
export const sorted = (rows: readonly Row[]): string[] =>
  rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort()
