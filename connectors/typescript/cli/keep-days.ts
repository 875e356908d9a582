import { monthOf } from './days.ts'
import { isSystemError, StoreError } from './errors.ts'
import { type Row, readParquet, schemaName, writeParquet } from './parquet.ts'
import { monthPath } from './paths.ts'
import { type BrandCopy, NOTHING_KNOWN, writeState } from './state.ts'
import { METRICS } from './streams.ts'

/**
 * Writes a file of a copy again with the columns of this version, and only with its own days before `end`. The next sync
 * fetches all its listed days. A file that cannot be read is forgotten.
 */
export async function keepDays(copy: BrandCopy, file: string, end = '9999-12-32'): Promise<void> {
  const columns = METRICS.find(({ endpoint }) => file.startsWith(`${endpoint}/`))?.columns ?? []
  const { store, brandId, state } = copy
  const path = state.files[file]?.path
  if (path === undefined) return
  const isKept = ({ brand_id, date }: Row) =>
    brand_id === brandId && file.endsWith(monthOf(String(date))) && String(date) < end
  let isReadable = true
  async function* keptRows(path: string): AsyncGenerator<Row> {
    try {
      const old = await store.open(path)
      for await (const row of readParquet(old, columns)) if (isKept(row)) yield row
    } catch (error) {
      // An outage must not cost the file, nor must an error of the writer, such as a full disk, which does not come here.
      if (error instanceof StoreError || isSystemError(error)) throw error
      isReadable = false
    }
  }
  let rows = 0
  const written = await store.create(monthPath(brandId, file), async (writer) => {
    rows = await writeParquet(writer, columns, keptRows(path))
    return isReadable ? rows : 0
  })
  if (written === undefined) delete state.files[file]
  else state.files[file] = { ...written, ...NOTHING_KNOWN, rows, schema: schemaName(columns) }
  state.token = null
  await writeState(copy)
}

/** Writes the files again that have other columns than this version, so that one query can read all files. */
export async function renewColumns(copy: BrandCopy): Promise<void> {
  for (const { endpoint, columns } of METRICS) {
    const schema = schemaName(columns)
    for (const [file, known] of Object.entries(copy.state.files))
      if (file.startsWith(`${endpoint}/`) && known.schema !== schema) await keepDays(copy, file)
  }
}
