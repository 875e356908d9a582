import { curl } from './samples/curl.ts'
import { duckdb } from './samples/duckdb.ts'
import { python } from './samples/python.ts'
import type { SampleRequest } from './samples/request.ts'
import { typescript } from './samples/typescript.ts'

export type Language = 'curl' | 'python' | 'typescript' | 'sql'

/** The languages of the code samples, in the order of their tabs. */
export const SAMPLES: Readonly<
  Record<Language, { readonly label: string; readonly write: (request: SampleRequest) => string }>
> = {
  curl: { label: 'curl', write: curl },
  python: { label: 'Python', write: python },
  typescript: { label: 'TypeScript', write: typescript },
  sql: { label: 'SQL', write: duckdb },
}
