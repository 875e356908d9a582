import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { isolatedPool } from '../../fixtures/isolated-database.ts'

type Vector = {
  readonly name: string
  readonly endpoint: string
  readonly date: string
  readonly rows: string
}

const { db } = await isolatedPool()

// Postgres reads the file's text: in JavaScript, JSON loses the sign of -0.0.
const file = await readFile(new URL('../../../site/reference/digest-vectors.json', import.meta.url), 'utf8')
const { rows: vectors } = await db.query<Vector & { numbers: number; digest: string }>(
  `select name, endpoint, date, rows::text, json_array_length(rows) as numbers, digest
   from json_to_recordset($1) as vector (name text, endpoint text, date text, rows json, digest text)`,
  [file],
)

/** Columns that order rows and are not sent. */
const INTERNAL: Readonly<Record<string, string>> = {
  url_hash: 'md5(url)::uuid',
  is_competitor: 'not is_brand',
}

test.each(vectors)('PostgreSQL computes the digest of: $name', async (vector) => {
  const metric = vector.endpoint.replaceAll('-', '_')
  const brandId = randomUUID()
  const { fields: columns } = await db.query(`select * from daily.${metric} limit 0`)
  const names = columns.map(({ name }) => name).filter((name) => name !== 'brand_id')
  await db.query(
    `insert into daily.${metric} (brand_id, ${names})
     select $1, ${names.map((name) => INTERNAL[name] ?? name)} from json_populate_recordset(null::daily.${metric}, $2)`,
    [brandId, vector.rows],
  )
  const client = await db.connect()
  try {
    await client.query(`begin; set local datestyle = 'sql, dmy'; set local standard_conforming_strings = off`)
    const { rows } = await client.query(
      'select rows, digest from daily.summarize($1, array[$2::uuid], array[to_date($3, $4)])',
      [metric, brandId, vector.date, 'YYYY-MM-DD'],
    )
    expect(rows).toEqual([{ rows: vector.numbers, digest: vector.digest }])
  } finally {
    await client.query('rollback')
    client.release()
  }
})
