import { resolve } from 'node:path'
import { UsageError } from '../../drizzle/db/connect.ts'
import type { CopyReader } from './copy.ts'
import { readJsonLines } from './json-lines.ts'
import { readDuckdb, readPostgres } from './sql.ts'

export type Where = { readonly copy: string; readonly schema?: string | undefined; readonly folder: string }

/** Returns what reads the copy at `duckdb:FILE`, `postgres://…` or `jsonl:FOLDER`. */
export function copyReader({ copy, schema, folder }: Where): CopyReader {
  const { kind, path } = parseCopy(copy)
  if (kind === 'duckdb') return readDuckdb(resolve(folder, path), schema ?? 'main')
  if (kind === 'jsonl') return readJsonLines(resolve(folder, path))
  return readPostgres(copy, schema ?? 'public')
}

/** Parses where a copy is. Throws `UsageError` for other places than those of `copyReader`. */
export function parseCopy(copy: string): { kind: string; path: string } {
  const [, kind, path = ''] = /^(duckdb|jsonl|postgres(?:ql)?):(.+)$/.exec(copy) ?? []
  if (kind !== undefined) return { kind, path }
  throw new UsageError(
    '--copy must be duckdb:FILE, postgres://user:password@host:5432/database or jsonl:FOLDER.',
  )
}
