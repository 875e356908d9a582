import { readFile } from 'node:fs/promises'

const MIGRATIONS = new URL('../../drizzle/migrations/', import.meta.url)

/** Every migration in its order, as SQL. */
export async function readJournal(): Promise<{ tag: string; sql: string }[]> {
  const { entries } = JSON.parse(await readFile(new URL('meta/_journal.json', MIGRATIONS), 'utf8'))
  const tags: string[] = entries.map((entry: { tag: string }) => entry.tag)
  return Promise.all(
    tags.map(async (tag) => ({ tag, sql: await readFile(new URL(`${tag}.sql`, MIGRATIONS), 'utf8') })),
  )
}
