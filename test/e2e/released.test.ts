import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { migrateToLatest } from '../../bundle/migrate-to-latest.ts'
import { startEmbeddedPostgres } from '../../emulator/postgres/embedded.ts'
import document from '../support/released/openapi.json' with { type: 'json' }
import { readReleased, runAfter, WORLD } from '../support/released.ts'

// To go back, deploy the previous commit: its Workers work with the database of this one, and of one more migration.

const released = await readReleased()
const reads = released.filter(({ role }) => role === 'export_api_reader')
const endpoints = Object.keys(document.paths).map((path) => path.slice(path.lastIndexOf('/') + 1))

const server = await startEmbeddedPostgres()
const client = new pg.Client({ connectionString: server.url })
await client.connect()
await migrateToLatest(client)
await client.query(await readFile(WORLD.sql, 'utf8'))

afterAll(async () => {
  await client.end()
  await server.close()
})

test('the statements of every endpoint and of the refresh are kept, and return rows', () => {
  const workers = new Set(reads.map(({ worker }) => worker))
  expect([...workers]).toEqual(expect.arrayContaining(endpoints))
  for (const { worker, rows } of reads) expect([worker, rows.length]).toEqual([worker, 1])
  expect(released.length).toBeGreaterThan(reads.length)
})

describe("the previous release's statements return the same rows", () => {
  test.for([
    ['the current migrations', 'select'],
    [
      'a column more in a stored table and its view',
      `alter table daily.visibility add column note text;
       alter view metrics.visibility rename to visibility_before;
       create view metrics.visibility as select *, 'new' as note from metrics.visibility_before`,
    ],
    [
      'a column with a default, a table, an index, an overload and a renamed column behind a view',
      `alter table answers add column cost integer not null default 0;
       create table notes (id integer primary key); grant select on notes to export_api_reader;
       create index on daily.citations (date);
       create function daily.watermark(text) returns date language sql as 'select null::date';
       alter table api_keys rename column brand_ids to brands`,
    ],
  ] as const)('after %s', async ([, migration]) => {
    expect(await runAfter(client, released, migration)).toEqual(reads)
  })
})
