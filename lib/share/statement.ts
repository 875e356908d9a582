import type { RunStatement } from '../../drizzle/db/refresh.ts'

/** Runs a statement and returns its cell `value`. Objects travel as JSON. */
export async function text(
  run: RunStatement,
  sql: string,
  params: readonly unknown[],
): Promise<string | null> {
  const row = await run(
    sql,
    params.map((param) => (param === null || typeof param === 'string' ? param : JSON.stringify(param))),
  )
  return row?.value ?? null
}

/** Runs a function that returns JSON. */
export async function read<Result>(
  run: RunStatement,
  call: string,
  params: readonly unknown[],
): Promise<Result> {
  const json = await text(run, `select ${call} as value`, params)
  return JSON.parse(json ?? 'null')
}
