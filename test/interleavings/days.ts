import { neonConfig } from '@neondatabase/serverless'
import pg from 'pg'
import { vi } from 'vitest'
import { refreshAll } from '../../drizzle/db/refresh.ts'
import declared from '../../functions/days.ts'
import { metrics } from '../../functions/metrics/all.ts'
import { PLANS, type Plan } from '../../lib/access/plans.ts'
import { callOf } from '../../lib/database/statement.ts'
import { days } from '../../lib/days/days.ts'
import { sha256 } from '../../lib/request/hash.ts'
import { fieldNames } from '../../lib/rows/schema.ts'
import { dayOf } from '../../lib/statement/window.ts'
import type { Day } from '../fixtures/day.ts'
import { bindings, counted, counterAnswers } from '../mocks/upstash.ts'
import { id, uuid } from './changes.ts'
import { BEGINNING, CLEARANCE } from './histories.ts'

export type Page = {
  readonly data: readonly Day[]
  readonly pagination: { readonly hasMore: boolean; readonly nextCursor: string }
}

/** Three brands, in the order in which a run reads them: two of the beginning, and a third one. */
export const [FIRST, SECOND, THIRD] = [uuid(1, 0), uuid(1, 1), uuid(1, 2)]

/** The key's organization, and another one. */
export const [OURS, OTHERS] = [uuid(9, 0), uuid(9, 1)]

/** SQL that adds the third brand to the key's organization, with answers. */
export const addThird = (active = true): string => `
  insert into brands (id, organization_id, name, display_name, url, site_url, active)
    values ('${THIRD}', '${OURS}', 'Initech', 'Initech', '', '', ${active}) on conflict do nothing;
  insert into prompts (id, brand_id, text) values (${id(2, 9)}, '${THIRD}', 'Which?') on conflict do nothing;
  insert into answers (id, prompt_id, model_id, market_id, answered_at)
    select ('00000003-0000-4000-8000-00000000001' || n)::uuid, ${id(2, 9)}, (select min(id) from models),
      (select id from markets order by id limit 1), timestamptz '2026-09-20 05:00Z' + n * interval '9 hours'
    from generate_series(0, 5) as n on conflict do nothing;
  insert into citations (answer_id, url, owned, recorded_at)
    select id, 'https://site.example/' || right(id::text, 1), false, answered_at from answers where prompt_id = ${id(2, 9)}`

const KEY = `svc_live_${'ab'.repeat(32)}`

const PATH = 'http://localhost/api/export/v1/days'

/** Small pages, so that most days of several rows come in parts. */
const SIZE = { rows: 7, bytes: 600 }

const START = new Date('2026-11-28T12:00:00Z')

/**
 * What a loader stores: a cursor, and the rows of each endpoint, brand and day. One that stores a time has the greatest that it
 * received, as `newest`; `since` is that of its last complete run, and its cursor is empty between runs.
 */
export type Copy = {
  cursor: string
  readonly days: Map<string, string[]>
  time?: { since: string; newest: string }
}

const textOf = (row: object): string => JSON.stringify(Object.entries(row).sort())

const isReadable = `brand.active and brand.organization_id = '${OURS}'
  and (select brand_ids is null or brand.id = any (brand_ids) from api_keys where organization_id = '${OURS}')`

/**
 * Runs the Worker of the days in this process over a database, at a time that tests set, and follows it with copies.
 * Calls `vi.useFakeTimers`.
 */
export async function openDays(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const worker = days({ ...declared.operation, metrics: Object.values(metrics), size: SIZE })
  const { page: statement } = worker.statements
  if (statement === undefined) throw new TypeError('The Worker has no statement')
  const { sql: call } = await callOf(statement)
  const key_hash = await sha256(KEY)
  const env = bindings()
  counterAnswers(counted(1))
  vi.useFakeTimers({ toFake: ['Date'] })
  for (const method of ['log', 'warn'] as const) vi.spyOn(console, method).mockImplementation(() => {})

  neonConfig.fetchFunction = async (_: string, init: RequestInit) => {
    const { query, params } = JSON.parse(String(init.body))
    if (query !== call) throw new TypeError(`An unexpected statement: ${query}`)
    const types = { getTypeParser: () => (text: string) => text }
    const { sql: text } = statement
    const result = await client.query({ name: 'days', text, values: params, rowMode: 'array', types })
    return Response.json({ ...result, rowAsArray: true })
  }

  /** Sends SQL in transactions of their own, one after the other. */
  async function send(...statements: readonly string[]): Promise<void> {
    for (const sql of statements) await client.query(sql)
  }

  /** Begins again: two brands with days of all metrics, and a key that reads all brands. */
  async function begin(): Promise<void> {
    vi.setSystemTime(START)
    await send(`
      rollback; ${CLEARANCE}; truncate daily.changes_clock; truncate users cascade; ${BEGINNING};
      insert into organizations (id, name) values ('${OTHERS}', 'Another organization');
      insert into users (id, email) values (${id(8, 0)}, 'a@mail.example');
      insert into memberships (organization_id, user_id, role) values ('${OURS}', ${id(8, 0)}, 'owner');
      insert into subscriptions (organization_id, plan, status) values ('${OURS}', 'enterprise', 'active');
      insert into api_keys (organization_id, created_by, scope, label, key_hash, last_four)
        values ('${OURS}', ${id(8, 0)}, 'export', 'A key', decode('${key_hash}', 'hex'), 'none')`)
    await refreshAll(client)
  }

  /** Moves the Worker's clock. */
  const pass = (seconds: number): void => void vi.setSystemTime(Date.now() + seconds * 1000)

  async function request(query: Readonly<Record<string, string>>): Promise<Response> {
    const headers = { 'X-API-Key': KEY }
    return worker.fetch(new Request(`${PATH}?${new URLSearchParams(query)}`, { headers }), env)
  }

  /** Reads the page after a cursor; an empty one is that of the first page. */
  async function read(query: Readonly<Record<string, string>>): Promise<Page> {
    const response = await request(query)
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${response.status} ${text}`)
    return JSON.parse(text)
  }

  /** Reads the next page into a copy: all that a loader does with it. */
  async function load(copy: Copy, query: Readonly<Record<string, string>> = {}): Promise<Page> {
    const page = await read({ ...query, ...startOf(copy) })
    store(copy, page)
    return page
  }

  /** Reads pages into a copy while there are more; returns their documents. */
  async function run(copy: Copy, query: Readonly<Record<string, string>> = {}): Promise<Day[]> {
    const documents: Day[] = []
    for (let pages = 0; pages < MOST_PAGES; pages += 1) {
      const { data, pagination } = await load(copy, query)
      documents.push(...data)
      if (!pagination.hasMore) return documents
    }
    throw new Error('A run does not end')
  }

  /** The first day that the plan of the key reaches. */
  async function firstDay(): Promise<string> {
    const { rows } = await client.query<{ plan: Plan }>(
      'select plan from subscriptions where organization_id = $1',
      [OURS],
    )
    const { lookbackDays } = PLANS[rows[0]?.plan ?? 'lite']
    return lookbackDays === null ? '0001-01-01' : dayOf(new Date(Date.now() - lookbackDays * 86_400_000))
  }

  /** The rows of a schema that the key reads and a copy lacks, and those that only the copy has. */
  async function differing(copy: Copy, schema: 'daily' | 'metrics' = 'daily'): Promise<string[]> {
    const first = await firstDay()
    const { rows: brands } = await client.query(`select id from brands as brand where ${isReadable}`)
    const { rows } = await client.query<{ endpoint: string; brand: string; day: string; row: object }>(
      `select stored.* from brands as brand join (${rowsOf(schema)}) as stored on stored.brand = brand.id
       where ${isReadable} and stored.day >= $1`,
      [first],
    )
    const readable = new Set(brands.map((row) => row.id))
    const missing = new Map<string, number>()
    const count = (key: string, by: number) => missing.set(key, (missing.get(key) ?? 0) + by)
    for (const { endpoint, brand, day, row } of rows)
      count(`${keyOf(endpoint, brand, day)} ${textOf(row)}`, 1)
    for (const [key, texts] of copy.days) {
      const [, brand = '', day = ''] = key.split(' ')
      if (readable.has(brand) && day >= first) for (const text of texts) count(`${key} ${text}`, -1)
    }
    return [...missing].filter(([, by]) => by !== 0).map(([key, by]) => `${by} ${key}`)
  }

  /** Whether brands became readable whose days are not listed yet. */
  async function isReturning(): Promise<boolean> {
    const { rows } = await client.query(
      'select exists (select from daily.brand_log) or exists (select from daily.queued_brands where returned) as yes',
    )
    return rows[0].yes
  }

  return {
    client,
    begin,
    send,
    pass,
    request,
    read,
    load,
    run,
    differing,
    isReturning,
    refresh: () => refreshAll(client),
    close: async () => {
      vi.useRealTimers()
      vi.unstubAllGlobals()
      await client.end()
    },
  }
}

/** More pages than any run of these tests has. */
const MOST_PAGES = 1000

export const emptyCopy = (): Copy => ({ cursor: '', days: new Map() })

/** Makes a copy one that stores a time for all brands. */
export function keepTime(copy: Copy, since = '1970-01-01T00:00:00Z'): void {
  copy.cursor = ''
  copy.time = { since, newest: since }
}

/** The parameters of a copy's next request. */
export const startOf = ({ cursor, time }: Copy): Readonly<Record<string, string>> =>
  cursor === '' && time !== undefined ? { since: time.since } : { cursor }

const keyOf = (endpoint: string, brand: string, day: string): string => `${endpoint} ${brand} ${day}`

/** Stores a page: deletes each day at its first row, inserts rows, and keeps the cursor. */
export function store(copy: Copy, { data, pagination }: Page): void {
  for (const { endpoint, brand_id, date, offset, rows } of data) {
    const key = keyOf(endpoint, brand_id, date)
    const earlier = offset === 0 ? [] : (copy.days.get(key) ?? [])
    if (earlier.length !== offset)
      throw new Error(`The copy has ${earlier.length} rows of ${key}, not ${offset}`)
    copy.days.set(key, [...earlier, ...rows.map(textOf)])
  }
  copy.cursor = pagination.nextCursor
  if (copy.time === undefined) return
  const { time } = copy
  for (const { changed_at } of data) if (changed_at > time.newest) time.newest = changed_at
  if (pagination.hasMore) return
  time.since = time.newest
  copy.cursor = ''
}

/** SQL of the rows of all metrics, as objects of the fields that are sent. */
const rowsOf = (schema: string): string =>
  Object.entries(metrics)
    .map(([name, { operation }]) => {
      const fields = fieldNames(operation.row).map((field) => `'${field}', "${field}"`)
      return `select '${name}' as endpoint, brand_id as brand, date::text as day, json_build_object(${fields}) as row
        from ${schema}.${name.replaceAll('-', '_')}`
    })
    .join(' union all ')
