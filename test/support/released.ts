import { readFile } from 'node:fs/promises'
import type pg from 'pg'

/** A statement that a Worker sends to the database. */
export type Statement = {
  readonly worker: string
  readonly role: string
  readonly query: string
  readonly params: readonly (string | null)[]
}

/**
 * A statement of the last release with the rows that it returned then, as text, about the world of
 * released/world.sql.
 */
export type Released = Statement & { readonly rows: readonly (readonly (string | null)[])[] }

/** The brand and the key of released/world.sql. */
export const WORLD = {
  sql: new URL('./released/world.sql', import.meta.url),
  brandId: '00000000-0000-4000-8000-000000000003',
  key: `svc_live_${'ab'.repeat(32)}`,
  day: '2026-10-01',
  /** Its changes with a fixed time, and the key of the first: refreshes list later days, at the time of the refresh. */
  changes: {
    first: '2026-09-30',
    last: '2026-09-30',
    after: ['2026-10-01T00:00:00.000001Z', 'sentiment', '2026-09-30'],
  },
}

/** Where `npm run release` keeps the statements of the release. */
export const STATEMENTS_FILE = new URL('./released/statements.json', import.meta.url)

export async function readReleased(): Promise<Released[]> {
  return JSON.parse(await readFile(STATEMENTS_FILE, 'utf8'))
}

/**
 * Runs statements after `migration`, each with the role of its Worker and the refresh first, and rolls all of it
 * back. Returns the statements other than the refresh's with their rows. Throws the database's first error.
 */
export async function runAfter(
  client: pg.Client,
  statements: readonly Statement[],
  migration = 'select',
): Promise<Released[]> {
  const send = async ({ role, query, params }: Statement): Promise<Released['rows']> => {
    await client.query(`set local role ${role}`)
    const config = { text: query, values: [...params], rowMode: 'array' as const, types: AS_TEXT }
    const { rows } = await client.query<(string | null)[]>(config)
    await client.query('reset role')
    return rows
  }
  const isRefresh = ({ role }: Statement) => role === 'export_api_refresher'
  await client.query('begin')
  try {
    await client.query(migration)
    for (const statement of statements.filter(isRefresh)) {
      for (let step = 0; step < MAX_STEPS; step += 1) if ((await send(statement))[0]?.[0] === '0') break
    }
    const results: Released[] = []
    for (const statement of statements.filter((each) => !isRefresh(each))) {
      results.push({ ...statement, rows: await send(statement) })
    }
    return results
  } finally {
    await client.query('rollback')
  }
}

/** More steps than a refresh of this small world takes. */
const MAX_STEPS = 100

const AS_TEXT = { getTypeParser: () => (text: string) => text }
