import { type Row, readParquet } from '../../../../lib/share/parquet.ts'
import { CommandError } from '../errors.ts'
import type { Table } from './table.ts'

/** Yields some columns of all rows of a table, in no order. Throws `CommandError` when a file cannot be read. */
export async function* readTable(
  { store, name, snapshot, columns }: Table,
  names: readonly (string | undefined)[] = columns.map((column) => column.name),
): AsyncGenerator<Row> {
  const needed = columns.filter((column) => names.includes(column.name))
  for (const { path } of snapshot.files.values()) {
    try {
      yield* readParquet(await store.open(`${name}/${path}`), needed)
    } catch (cause) {
      const { location } = store
      throw new CommandError(
        `${location}/${name}/${path} cannot be read. Run export-api verify ${location}.`,
        { cause },
      )
    }
  }
}
