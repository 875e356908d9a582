import type pg from 'pg'
import { beforeEach, describe, expect, test } from 'vitest'
import { differences } from '../../fixtures/differences.ts'
import { dropForeignKeys } from '../../fixtures/foreign-keys.ts'
import { isolatedPool } from '../../fixtures/isolated-database.ts'
import { refresh } from '../../fixtures/rows.ts'
import { prepare } from '../../fixtures/schema.ts'
import { brand, id } from '../../interleavings/changes.ts'
import { CLEARANCE } from '../../interleavings/histories.ts'

const [ORGANIZATION, PROMPT, ANSWER, COMPETITOR, MARKET] = [id(9, 0), id(2, 0), id(3, 0), id(4, 0), id(5, 0)]
const BRAND = brand(0)

/** One row of each table, each before the rows that it refers to. */
const ROWS: Readonly<Record<string, string>> = {
  recommendations: `(answer_id, recommended) values (${ANSWER}, true)`,
  sentiment_phrases: `(answer_id, polarity, confidence) values (${ANSWER}, 'positive', 0.5)`,
  citations: `(answer_id, url, owned, recorded_at) values (${ANSWER}, 'https://site.example/', true, '2026-10-03T09:00:00Z')`,
  answer_mentions: `(answer_id, name) values (${ANSWER}, 'Acme')`,
  answers: `(id, prompt_id, model_id, market_id, answered_at) values (${ANSWER}, ${PROMPT}, 'a-model', ${MARKET}, '2026-10-01T09:00:00Z')`,
  models: `(id, provider) values ('a-model', 'A provider')`,
  markets: `(id, name) values (${MARKET}, 'A market')`,
  prompts: `(id, brand_id, text) values (${PROMPT}, ${BRAND}, 'Which?')`,
  competitors: `(id, brand_id, name) values (${COMPETITOR}, ${BRAND}, 'Globex')`,
  brands: `(id, organization_id, name, display_name, url, site_url) values (${BRAND}, ${ORGANIZATION}, 'Acme', 'Acme', '', '')`,
}
const TABLES = Object.keys(ROWS)

const insert = (table: string): string => `insert into ${table} ${ROWS[table]}`

const BEGINNING = `${CLEARANCE};
  insert into organizations (id, name) values (${ORGANIZATION}, 'An organization')`

/** The metrics, which all have rows when the rows above exist. */
const METRICS = ['citation_share', 'citations', 'competitors', 'recommended_rate', 'sentiment', 'visibility']

/** Brings the stored rows up to date and returns those of each metric that has any. They must equal the views. */
async function refreshedRows(db: pg.Pool): Promise<Readonly<Record<string, unknown>>> {
  await refresh(db)
  expect(await differences(db)).toEqual([])
  const { rows } = await db.query<{ metric: string; rows: unknown }>(
    METRICS.map(
      (metric) =>
        `select '${metric}' as metric, jsonb_agg(to_jsonb(its)) as rows from daily.${metric} as its having count(*) > 0`,
    ).join(' union all '),
  )
  return Object.fromEntries(rows.map(({ metric, rows }) => [metric, rows]))
}

// Keys that are checked at the end of a transaction, or not by a session: test/histories/interleavings.test.ts.
describe('without foreign keys', async () => {
  const { db } = await isolatedPool(async (client) => {
    await prepare(client)
    await dropForeignKeys(client)
  })
  beforeEach(() => db.query(BEGINNING))

  test.for(TABLES)('the row of %s can come last, be deleted alone, and come back', async (table) => {
    for (const other of TABLES) if (other !== table) await db.query(insert(other))
    const without = await refreshedRows(db)
    await db.query(insert(table))
    const complete = await refreshedRows(db)
    expect(Object.keys(complete).sort()).toEqual(METRICS)
    expect(complete).not.toEqual(without)
    await db.query(`delete from ${table}`)
    expect(await refreshedRows(db)).toEqual(without)
    await db.query(insert(table))
    expect(await refreshedRows(db)).toEqual(complete)
  })
})
