import type pg from 'pg'

export type Fill = {
  /** The endpoint's name, as its file has it. */
  readonly name: string
  readonly brandId: string
  readonly rows: number
  /** Day of the first row, and the number of days that the rows are dealt out over in turn. */
  readonly first: string
  readonly days: number
  /** Number of the first row; 1 when left out. */
  readonly from?: number
}

/** The values of columns, by name or by type. */
const VALUES: Readonly<Record<string, string>> = {
  uuid: 'gen_random_uuid()',
  date: '$2::date + (number - $4) % $3::int',
  text: "'row ' || lpad(number::text, 6, '0')",
  integer: 'number',
  numeric: '12.5',
  boolean: 'number % 2 = 0',
  json: `json_build_object('total_prompts', number, 'visible_count', 0)`,
  endpoint: `'row-' || translate(number::text, '0123456789', 'abcdefghij')`,
  changed_at: `to_char($2::date + (number - $4) % $3::int + number * interval '1 microsecond', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`,
}

/**
 * Writes rows straight into an endpoint's stored table, whichever it is: integers and texts carry the row's number.
 * They have no raw rows, and without queue entries a refresh leaves them alone.
 */
export async function fillDaily(
  db: pg.Pool,
  { name, brandId, rows, first, days, from = 1 }: Fill,
): Promise<void> {
  const table = name.replaceAll('-', '_')
  const { rows: columns } = await db.query<{ name: string; type: string }>(
    `select column_name as name, data_type as type from information_schema.columns
     where table_schema = 'daily' and table_name = $1 and is_generated = 'NEVER' order by ordinal_position`,
    [table],
  )
  const values = columns.map(({ name, type }) =>
    name === 'brand_id' ? '$1::uuid' : (VALUES[name] ?? VALUES[type]),
  )
  await db.query(
    `insert into daily.${table} (${columns.map(({ name }) => `"${name}"`)})
     select ${values} from generate_series($4::int, $4::int + $5::int - 1) as number`,
    [brandId, first, days, from, rows],
  )
}

/** Whether an endpoint can have several rows a day: its stored key goes beyond the brand and the date. */
export async function hasManyRowsADay(db: pg.Pool, name: string): Promise<boolean> {
  const { rows } = await db.query<{ many: boolean }>(
    'select indnatts > 2 as many from pg_index where indisprimary and indrelid = $1::regclass',
    [`daily.${name.replaceAll('-', '_')}`],
  )
  return rows[0]?.many ?? false
}
