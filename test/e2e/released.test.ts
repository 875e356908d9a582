import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../emulator/postgres/embedded.ts'
import { findEndpoints } from '../support/endpoints.ts'
import { readJournal } from '../support/journal.ts'
import { type Answers, answersAfter, buildWorld, readRelease } from '../support/released.ts'

const release = await readRelease()
const migrations = await readJournal()
const later = migrations.slice(migrations.findIndex(({ tag }) => tag === release.migration) + 1)
const endpoints = await findEndpoints()

let server: EmbeddedPostgres
let client: pg.Client
let before: Answers

beforeAll(async () => {
  server = await startEmbeddedPostgres()
  client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await buildWorld(client, release)
  before = await answersAfter(client, release, [])
})

afterAll(async () => {
  await client.end()
  await server.stop()
})

/** What the Workers of the last release are told after migrations that they do not know. */
const answersWith = (...unknown: string[]) => answersAfter(client, release, unknown)

describe('the Workers of the last release', () => {
  test('are known by every statement that they send, and each finds rows', () => {
    expect(migrations.map(({ tag }) => tag)).toContain(release.migration)
    const senders = new Set(before.map(({ worker }) => worker))
    for (const { name } of endpoints.filter(({ name }) => senders.has(name))) {
      const texts = before.filter(({ worker }) => worker === name).map(({ rows }) => JSON.stringify(rows))
      expect([name, texts.length > 0 && texts.every((text) => text.length > 50)]).toEqual([name, true])
    }
    expect(senders.size).toBeGreaterThanOrEqual(8)
    expect(release.statements.some(({ role }) => role === 'export_api_refresher')).toBe(true)
  })

  test.each(
    later.map(({ tag }, index) => [tag, index] as const),
  )('are answered the same after %s', async (_, index) => {
    expect(await answersWith(...later.slice(0, index + 1).map(({ sql }) => sql))).toEqual(before)
  })
})

describe('a migration that adds', () => {
  test.for([
    [
      'a column to a stored table and to its view',
      `alter table daily.visibility add column note text;
       alter view metrics.visibility rename to visibility_before;
       create view metrics.visibility as select *, 'new' as note from metrics.visibility_before`,
    ],
    [
      'a column that must be filled, with a default',
      `alter table answers add column cost integer not null default 0`,
    ],
    ['a table', `create table notes (id integer primary key); grant select on notes to export_api_reader`],
    ['a name of a raw table, behind its view', `alter table api_keys rename column brand_ids to brands`],
    ['an index', `create index on daily.citations (date)`],
    [
      'a function beside another',
      `create function daily.watermark(text) returns date language sql as 'select null::date'`,
    ],
  ])('%s passes', async ([, sql = '']) => {
    expect(await answersWith(sql)).toEqual(before)
  })
})

describe('a migration that breaks', () => {
  test.for([
    ['a stored table that its view does not fill', `alter table daily.visibility add column note text`],
    ['a column that is read', `alter table daily.visibility drop column line`],
    ['the name of a column', `alter table daily.citations rename column line to text`],
    ['the name of a table', `alter table daily.sentiment rename to moods`],
    ['a right', `revoke select on daily.citations from export_api_reader`],
    ['a function', `drop function daily.watermark(text, uuid, date, date)`],
    ['the refresh', `alter function daily.refresh(integer, integer) rename to refresh_all`],
    ['the freedom to leave a column out', `alter table daily.visibility add column note text not null`],
  ])('%s fails', async ([, sql = '']) => {
    await expect(answersWith(sql)).rejects.toThrow()
  })

  test('what a row says is told', async () => {
    expect(await answersWith(`update models set provider = 'Another provider'`)).not.toEqual(before)
    expect(await answersWith()).toEqual(before)
  })
})
