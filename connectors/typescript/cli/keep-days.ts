import { monthOf } from './days.ts'
import { type Row, readParquet, schemaName, writeParquet } from './parquet.ts'
import { monthPath } from './paths.ts'
import { type BrandCopy, writeState } from './state.ts'
import { METRICS } from './streams.ts'

/**
 * Writes a file of a copy again with the columns of this version, and only with its own days before `end`. The next sync
 * fetches all its listed days. A file that cannot be read is forgotten.
 */
export async function keepDays(copy: BrandCopy, file: string, end = '9999-12-32'): Promise<void> {
  const columns = METRICS.find(({ endpoint }) => file.startsWith(`${endpoint}/`))?.columns ?? []
  const { store, brandId, state } = copy
  const isKept = ({ brand_id, date }: Row) =>
    brand_id === brandId && file.endsWith(monthOf(String(date))) && String(date) < end
  let isReadable = true
  async function* keptRows(): AsyncGenerator<Row> {
    try {
      const old = await store.open(state.files[file]?.path ?? '')
      for await (const row of readParquet(old, columns)) if (isKept(row)) yield row
    } catch {
      // Errors of the writer, such as a full disk, do not come here: they must not cost the file.
      isReadable = false
    }
  }
  const written = await store.create(monthPath(brandId, file), async (writer) => {
    const rows = await writeParquet(writer, columns, keptRows())
    return isReadable ? rows : 0
  })
  if (written === undefined) delete state.files[file]
  // Later than every day, and before every change.
  else state.files[file] = { ...written, schema: schemaName(columns), from: '9999-12-31', through: '' }
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
