import { monthOf } from './days.ts'
import { replaceFile } from './folder.ts'
import { type Row, readParquet, schemaName, writeParquet } from './parquet.ts'
import { type BrandCopy, describeFile, monthPath, writeState } from './state.ts'
import { METRICS } from './streams.ts'

/**
 * Writes a file of a copy again with the columns of this version, and only with its own days before `end`. The next sync
 * fetches all its listed days. A file that cannot be read is deleted.
 */
export async function keepDays(copy: BrandCopy, file: string, end = '9999-12-32'): Promise<void> {
  const columns = METRICS.find(({ endpoint }) => file.startsWith(`${endpoint}/`))?.columns ?? []
  const path = monthPath(copy, file)
  const isKept = ({ brand_id, date }: Row) =>
    brand_id === copy.brandId && file.endsWith(monthOf(String(date))) && String(date) < end
  let isReadable = true
  async function* keptRows(): AsyncGenerator<Row> {
    try {
      for await (const row of readParquet(path, columns)) if (isKept(row)) yield row
    } catch {
      // Errors of the writer, such as a full disk, do not come here: they must not cost the file.
      isReadable = false
    }
  }
  let isStored = false
  await replaceFile(path, async (unfinished) => {
    const count = await writeParquet(unfinished, columns, keptRows())
    isStored = isReadable && count > 0
    return isStored
  })
  if (!isStored) delete copy.state.files[file]
  else {
    const known = { ...(await describeFile(path)), schema: schemaName(columns) }
    // Later than every day, and before every change.
    copy.state.files[file] = { ...known, from: '9999-12-31', through: '' }
  }
  copy.state.token = null
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
