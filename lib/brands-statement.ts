import { getViewSelectedFields, is, type SQL, sql } from 'drizzle-orm'
import { PgColumn, type PgView } from 'drizzle-orm/pg-core'
import { ACCESS_COLUMNS, accessColumns, activeKey, canReadEach } from './access/scope.ts'
import { brandsDigest } from './page/brands-digest.ts'
import { FILE_PART, PAGE, type Size } from './page/size.ts'
import { type KeyedRow, keyAfter, list, sizedColumns, sizedRows } from './page/sized-rows.ts'
import type { PageStatement } from './page/statements.ts'
import { prepareStatement } from './render-statement.ts'
import { aggregateColumns, columnNames } from './row-columns.ts'
import { fieldNames } from './row-schema.ts'

/** Brands under the row's field names, with `id`, `organization_id` and `active`. The key is of fields of the row. */
type Brands = KeyedRow & { readonly view: PgView }

export type BrandsStatements = {
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
export function brandsStatements({ view, row, key }: Brands): BrandsStatements {
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
    return { ...prepareStatement(statement(columns, joins), names), size: size.rows }
  }

  const all = sql`
    cross join lateral (
      select ${list([sql`count(*)::text as found`, sql`'false' as has_more`, ...aggregateColumns(row)])}
      from (${allBrands}) as page
    ) as page`
  const names = [...COLUMNS, 'found', 'has_more', ...columnNames(row)]
  return {
    all: { ...prepareStatement(statement(sql`page.*`, all), names), size: Number.MAX_SAFE_INTEGER },
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
