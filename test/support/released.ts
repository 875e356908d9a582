import { readFile } from 'node:fs/promises'
import type pg from 'pg'
import { readJournal } from './journal.ts'

/** A statement that a Worker of the last release sends, as it was sent about the world of released/world.sql. */
export type Statement = {
  readonly worker: string
  readonly role: string
  readonly query: string
  readonly params: readonly (string | null)[]
}

/** The last release: the last migration that it had, and everything that its Workers ask the database. */
export type Release = { readonly migration: string; readonly statements: readonly Statement[] }

/** The brand and the key of released/world.sql. */
export const WORLD = {
  sql: new URL('./released/world.sql', import.meta.url),
  brandId: '00000000-0000-4000-8000-000000000003',
  key: `svc_live_${'ab'.repeat(32)}`,
  day: '2026-10-01',
}

const STATEMENTS = new URL('./released/statements.json', import.meta.url)

/** The last release, as `npm run release` kept it. */
export async function readRelease(): Promise<Release> {
  return JSON.parse(await readFile(STATEMENTS, 'utf8'))
}

/** Brings an empty database to the schema of a release, and fills it with the world that its statements ask about. */
export async function buildWorld(
  client: pg.Client,
  { migration }: Pick<Release, 'migration'>,
): Promise<void> {
  for (const { tag, sql } of await readJournal()) {
    await client.query(sql)
    if (tag === migration) break
  }
  await client.query(await readFile(WORLD.sql, 'utf8'))
}

/** What the statements of a release are answered: rows of text, by the Worker that sends them. */
export type Answers = readonly { readonly worker: string; readonly rows: readonly (readonly unknown[])[] }[]

/**
 * Runs the statements of a release after migrations that it did not know, with the rights that its Workers have, the
 * refresh first; leaves the database as it was. Throws what the database says to the first that fails.
 */
export async function answersAfter(
  client: pg.Client,
  { statements }: Release,
  migrations: readonly string[],
): Promise<Answers> {
  const settle = async (statement: Statement): Promise<void> => {
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const [row] = await ask(statement)
      if (Number(row?.[0] ?? 0) === 0) return
    }
    throw new Error('A refresh of the last release finds no end')
  }
  const ask = async ({ role, query, params }: Statement): Promise<unknown[][]> => {
    await client.query(`set local role ${role}`)
    const config = { text: query, values: [...params], rowMode: 'array' as const, types: AS_TEXT }
    const { rows } = await client.query<unknown[]>(config)
    await client.query('reset role')
    return rows
  }
  const refreshes = statements.filter(({ role }) => role === 'export_api_refresher')
  const reads = statements.filter((statement) => !refreshes.includes(statement))
  await client.query('begin')
  try {
    for (const sql of migrations) await client.query(sql)
    for (const statement of refreshes) await settle(statement)
    const answers = []
    for (const statement of reads) answers.push({ worker: statement.worker, rows: await ask(statement) })
    return answers
  } finally {
    await client.query('rollback')
  }
}

/** Steps of a refresh that bring everything of a small world up to date, and more. */
const MOST_ROUNDS = 100

const AS_TEXT = { getTypeParser: () => (text: string) => text }
