import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { IN_ASCII } from '../../test-support/python.ts'

/** The folder of the source and of its pipeline, `export_api_pipeline.py`. */
export const SOURCES = fileURLToPath(new URL('../sources/', import.meta.url))

type Run = {
  readonly url: string
  readonly key: string
  /** The first day of the copy. */
  readonly start: string
  /** Where the working folder of dlt is, and the copy, `export_api_pipeline.duckdb`. */
  readonly folder: string
}

/** The environment of a program of dlt. */
export const dltEnvironment = ({ url, key, start, folder }: Run) => ({
  PATH: process.env.PATH,
  ...IN_ASCII,
  PYTHONPATH: SOURCES,
  DLT_DATA_DIR: join(folder, 'dlt'),
  RUNTIME__DLTHUB_TELEMETRY: 'false',
  SOURCES__EXPORT_API__BASE_URL: url,
  SOURCES__EXPORT_API__API_KEY: key,
  SOURCES__EXPORT_API__START_DATE: start,
})
