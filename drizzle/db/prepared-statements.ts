import type { Client } from 'pg'

/** A statement, and the function that is to hold it: `$1` … are its parameters, all of them text as its columns are. */
export type StatementFunction = {
  readonly schema: string
  readonly name: string
  readonly sql: string
  readonly parameters: number
  readonly columns: readonly string[]
}

const READER = 'export_api_reader'

/**
 * Makes a function of each statement, which the Workers' role may run. Those of statements before stay: Workers that
 * are still deployed call them.
 */
export async function installPreparedStatements(
  client: Client,
  statements: readonly StatementFunction[],
): Promise<void> {
  const { rowCount: readers } = await client.query('select from pg_roles where rolname = $1', [READER])
  await client.query('begin')
  try {
    for (const schema of new Set(statements.map((statement) => statement.schema))) {
      await client.query(`create schema if not exists ${schema}`)
      if (readers) await client.query(`grant usage on schema ${schema} to ${READER}`)
    }
    for (const statement of statements) {
      const signature = `${statement.schema}."${statement.name}"(${list(statement.parameters, () => 'text')})`
      await client.query(definition(statement))
      await client.query(`revoke execute on function ${signature} from public`)
      if (readers) await client.query(`grant execute on function ${signature} to ${READER}`)
    }
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

// In plpgsql, since that keeps a statement's plan from one call to the next.
function definition({ schema, name, sql, parameters, columns }: StatementFunction): string {
  return `
    create or replace function ${schema}."${name}"(${list(parameters, () => 'text')})
    returns table (${columns.map((name) => `"${name}" text`).join(', ')})
    language plpgsql stable parallel safe rows 1 as $held$
    #variable_conflict use_column
    begin
      return query ${sql};
    end
    $held$`
}

const list = (length: number, write: (index: number) => string): string =>
  Array.from({ length }, (_, index) => write(index)).join(', ')
