import type { Client } from 'pg'

/** A statement and the function that runs it. Its parameters `$1` … and its columns are all text. */
export type StatementFunction = {
  readonly name: string
  readonly sql: string
  readonly parameters: number
  readonly columns: readonly string[]
}

/** The schema of the functions. */
export const STATEMENTS = 'statements'

const READER = 'export_api_reader'

/**
 * Creates a function for each statement and lets the role of the Workers execute it. Functions of earlier releases stay,
 * because Workers that are still deployed call them.
 */
export async function installPreparedStatements(
  client: Client,
  statements: readonly StatementFunction[],
): Promise<void> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [READER])
  const hasReader = rowCount !== 0
  await client.query(`create schema if not exists ${STATEMENTS}`)
  if (hasReader) await client.query(`grant usage on schema ${STATEMENTS} to ${READER}`)
  for (const statement of statements) {
    const signature = `${STATEMENTS}."${statement.name}"(${parametersOf(statement)})`
    await client.query(definition(statement))
    await client.query(`revoke execute on function ${signature} from public`)
    if (hasReader) await client.query(`grant execute on function ${signature} to ${READER}`)
  }
}

// plpgsql keeps the plan of a statement between calls. Dates become text inside, whatever format the database has.
// JIT is off: compiling a statement takes longer than running it. Row level security that hides rows is an error.
const definition = (statement: StatementFunction): string => `
  create or replace function ${STATEMENTS}."${statement.name}"(${parametersOf(statement)})
  returns table (${statement.columns.map((name) => `"${name}" text`).join(', ')})
  language plpgsql stable parallel safe rows 1 set datestyle = iso set jit = off set row_security = off as $function$
  #variable_conflict use_column
  begin
    return query ${statement.sql};
  end
  $function$`

const parametersOf = ({ parameters }: StatementFunction): string => Array(parameters).fill('text').join(', ')
