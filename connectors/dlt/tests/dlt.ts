import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PIPELINE = fileURLToPath(new URL('../export_api_pipeline.py', import.meta.url))

type Load = {
  readonly url: string
  readonly start: string
  readonly dataset: string
  /** The DuckDB file of the copy. */
  readonly file: string
}

/** Arguments of Python that run the pipeline of connectors/dlt. */
export const dltCommand = ({ url, start, dataset, file }: Load): string[] => [
  PIPELINE,
  ...['--base-url', url, '--start-date', start],
  ...['--destination', 'duckdb', '--dataset', dataset, '--database', file],
]

/** The environment of a program of dlt, whose working folder is in a folder. */
export const dltEnvironment = (folder: string, key: string) => ({
  PATH: process.env.PATH,
  DLT_DATA_DIR: join(folder, 'dlt'),
  RUNTIME__DLTHUB_TELEMETRY: 'false',
  EXPORT_API_KEY: key,
})
