import type pg from 'pg'
import { readStreams } from '../../site/reference/streams.ts'
import { fillDaily } from '../../test/fixtures/fill-daily.ts'

/** Fills the metrics of a brand from 2026-10-01: five days, or 30 with a row each. Citations have three pages. Lists the days. */
export async function fillMetrics(db: pg.Pool, brandId: string): Promise<void> {
  for (const { name, kind, key } of readStreams()) {
    if (kind !== 'metric') continue
    const days = key.length > 2 ? 5 : 30
    await fillDaily(db, { name, brandId, rows: name === 'citations' ? 2300 : 30, first: '2026-10-01', days })
    await db.query('select daily.relist($1, $2)', [name, brandId])
  }
}
