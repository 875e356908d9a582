import { getViewSelectedFields, is, type SQL, sql } from 'drizzle-orm'
import { PgColumn, type PgView } from 'drizzle-orm/pg-core'
import type * as z from 'zod/mini'
import {
  ACCESS_COLUMNS,
  accessColumns,
  activeKey,
  authorize,
  brandsDigest,
  canReadEach,
  requireKeyHash,
} from '../access/access.ts'
import { runPrepared } from '../database/db.ts'
import { prepareStatement } from '../database/statement.ts'
import { fileResult } from '../file/file.ts'
import type { Result } from '../http/app.ts'
import type { DocumentedWorker, StoredOperation } from '../page/operation.ts'
import { brandsDigestHeader } from '../page/page.ts'
import { dataEndpoint, type Parameters, parseParameters } from '../page/request.ts'
import type { RequestContext } from '../request/context.ts'
import { fieldNames, fieldsOf } from '../rows/schema.ts'
import { FILE_PART, PAGE, type Size, WHOLE } from '../rows/size.ts'
import { isFile, writeJson } from '../rows/write.ts'
import type { PageStatement } from '../statement/page-statement.ts'
import {
  type KeyedRow,
  keyAfter,
  list,
  sizedColumns,
  sizedRows,
  sizedRowsReader,
  valuesOfKey,
} from '../statement/wire.ts'

/** `rows` are brands under the row's field names, with `id`, `organization_id` and `active`. */
export type Brands<Shape extends z.core.$ZodShape, Rows extends PgView> = StoredOperation<Shape, Rows> & {
  /** Fields that order and identify the brands. */
  readonly order: readonly (keyof Shape & string)[]
}

/** Builds the Worker that lists every brand that the key reads: as JSON in one statement, as a file in parts. */
export function brands<Shape extends z.core.$ZodShape, Rows extends PgView>({
  rows: view,
  order: key,
  ...operation
}: Brands<Shape, Rows>): DocumentedWorker {
  const { path, row } = operation
  const fields = fieldsOf(row)
  const statements = brandsStatements({ view, row, key })
  const readRows = sizedRowsReader({ fields, key })

  async function handler(context: RequestContext, { format }: Parameters): Promise<Result> {
    const { env, clock, now, log } = context.var
    const key_hash = requireKeyHash(context)
    const read = async (statement: PageStatement, at: Date, after: readonly string[] = []) => {
      const values = { key_hash, now: at.toISOString(), ...valuesOfKey(after) }
      const result = authorize(await runPrepared({ env, log }, statement, values), log)
      return { ...readRows(result, statement.limit, log), digest: result.brands_digest ?? null }
    }
    if (!isFile(format)) {
      const all = await read(statements.all, now)
      const body = `{"data":[${writeJson(all, ',')}]}`
      return { body, headers: brandsDigestHeader(all.digest), rows: all.rows, cacheable: true }
    }
    const first = await read(statements.firstOfFile, now)
    const readAfter = (last: readonly string[]) => read(statements.nextOfFile, clock(), last)
    const result = fileResult(context, { format, name: path.slice(1), fields, first, readAfter })
    return { ...result, headers: { ...result.headers, ...brandsDigestHeader(first.digest) } }
  }

  return {
    fetch: dataEndpoint({
      path,
      parse: ({ req }) => parseParameters(new URL(req.url).searchParams, 'brands'),
      handler,
    }).fetch,
    operation: { ...operation, kind: 'brands' },
    statements,
  }
}

/** Brands under the row's field names, with `id`, `organization_id` and `active`. The key is of fields of the row. */
type KeyedBrands = KeyedRow & { readonly view: PgView }

type BrandsStatements = {
  /** Reads all brands. */
  readonly all: PageStatement
  /** Reads the first brands, with the column `total` when there are more. */
  readonly firstOfFile: PageStatement
  /** Reads up to {@link FILE_PART} after a key. */
  readonly nextOfFile: PageStatement
}

/** The columns of a result before those of its rows. */
const COLUMNS = [...ACCESS_COLUMNS, 'brands_digest']

/**
 * Builds the statements of the brands. Each checks access and reads the brands of the key in one round trip; it returns
 * no row without an active key, else one row, with the column `brands_digest` of all brands that the key reads.
 * Placeholders: those of `activeKey`, and of `keyAfter`.
 */
function brandsStatements({ view, row, key }: KeyedBrands): BrandsStatements {
  const read = sql`from ${view} as brand where ${canReadEach}`
  const order = list(key.map(columnOfBrand))
  const after = keyAfter(key.map((name) => columnOf(view, name)))
  const fields = list(fieldNames(row).map(columnOfBrand))
  const allBrands = sql`select ${fields} ${read} order by ${order}`
  const brandsAfter = sql`select ${fields} ${read} and (${order}) > (${after}) order by ${order}`

  const statement = (columns: SQL, joins: SQL) => sql`
    with access as materialized (${activeKey})
    select ${accessColumns}, (select ${brandsDigest(sql`brand.id`)} ${read}) as brands_digest, ${columns}
    from access ${joins}`
  const part = (size: Size, brands: SQL, total?: SQL): PageStatement => {
    const { columns, joins } = sizedRows({ row, key, rows: brands, size, total })
    const names = [...COLUMNS, ...sizedColumns({ row, key, total })]
    return { ...prepareStatement(statement(columns, joins), names), limit: size.rows }
  }
  return {
    all: part(WHOLE, allBrands),
    firstOfFile: part(PAGE, allBrands, sql`(select count(*) ${read})`),
    nextOfFile: part(FILE_PART, brandsAfter),
  }
}

const columnOfBrand = (name: string): SQL => sql`brand.${sql.identifier(name)}`

function columnOf(view: PgView, name: string): PgColumn {
  const column = getViewSelectedFields(view)[name]
  if (!is(column, PgColumn)) throw new Error(`No column ${name} in the view`)
  return column
}
