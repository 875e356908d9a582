import { CommandError } from '../errors.ts'
import { type Row, readParquet } from '../parquet.ts'
import type { Store } from '../store.ts'
import type { Column, Stream } from '../streams.ts'

/** The files of a brand. */
export type Files = {
  readonly store: Store
  /** By `<endpoint>/<YYYY-MM>`. */
  readonly files: Readonly<Record<string, { readonly path: string }>>
}

/** Reads columns of all rows of a metric, in ascending order of their dates. */
export async function* readMetric(
  { store, files }: Files,
  { endpoint, columns }: Pick<Stream, 'endpoint' | 'columns'>,
): AsyncGenerator<Row> {
  const ofEndpoint = Object.entries(files).filter(([file]) => file.startsWith(`${endpoint}/`))
  for (const [, { path }] of ofEndpoint.sort()) yield* readFile(store, path, columns)
}

/** Reads columns of the rows of a file. Throws `CommandError` when it cannot be read. */
export async function* readFile(store: Store, path: string, columns: readonly Column[]): AsyncGenerator<Row> {
  try {
    yield* readParquet(await store.open(path), columns)
  } catch (cause) {
    const { location } = store
    throw new CommandError(`${location}/${path} cannot be read. Run export-api verify ${location}.`, {
      cause,
    })
  }
}
