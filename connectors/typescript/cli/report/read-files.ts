import { CommandError } from '../errors.ts'
import { type Row, readParquet } from '../parquet.ts'
import { monthPath } from '../state.ts'
import type { Column, Stream } from '../streams.ts'

/** The files of an endpoint and a brand in a folder. */
export type Files = {
  readonly folder: string
  readonly brandId: string
  /** By `<endpoint>/<YYYY-MM>`. */
  readonly files: Readonly<Record<string, unknown>>
}

/** Reads columns of all rows of a metric, in ascending order of their dates. */
export async function* readMetric(
  { folder, brandId, files }: Files,
  { endpoint, columns }: Pick<Stream, 'endpoint' | 'columns'>,
): AsyncGenerator<Row> {
  const ofEndpoint = Object.keys(files).filter((file) => file.startsWith(`${endpoint}/`))
  for (const file of ofEndpoint.sort()) yield* readFile(folder, monthPath({ folder, brandId }, file), columns)
}

/** Reads columns of the rows of a file. Throws `CommandError` when it cannot be read. */
export async function* readFile(
  folder: string,
  path: string,
  columns: readonly Column[],
): AsyncGenerator<Row> {
  try {
    yield* readParquet(path, columns)
  } catch (cause) {
    throw new CommandError(`${path} cannot be read. Run export-api verify ${folder}.`, { cause })
  }
}
