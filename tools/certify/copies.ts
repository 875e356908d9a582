import { resolve } from 'node:path'
import { UsageError } from '../../drizzle/db/connect.ts'
import { readDuckdb } from './duckdb.ts'
import { readJsonLines } from './json-lines.ts'
import { readPostgres } from './postgres.ts'
import type { Row } from './service.ts'

/** A table of a copy: its rows, and the type of each column. */
export type CopiedTable = {
  readonly rows: readonly Row[]
  /** The columns by their names in lower case without underscores. One of nulls in JSON has no type. */
  readonly columns: ReadonlyMap<string, { readonly name: string; readonly type: string | undefined }>
}

export type Copy = ReadonlyMap<string, CopiedTable>

export type CopyReader = (tables: readonly string[]) => Promise<Copy>

export type Where = { readonly copy: string; readonly schema?: string | undefined; readonly folder: string }

/** Returns what reads the copy at `duckdb:FILE`, `postgres://…` or `jsonl:FOLDER`. */
export function copyReader({ copy, schema, folder }: Where): CopyReader {
  const { kind, path } = parseCopy(copy)
  if (kind === 'duckdb') return readDuckdb(resolve(folder, path), schema ?? 'main')
  if (kind === 'jsonl') return readJsonLines(resolve(folder, path))
  return readPostgres(copy, schema ?? 'public')
}

/** Singer's loaders stamp the rows that are deleted. */
export const isLive = (row: Row): boolean => (row._sdc_deleted_at ?? null) === null

/** Parses where a copy is. Throws `UsageError` for other places than those of `copyReader`. */
export function parseCopy(copy: string): { kind: string; path: string } {
  const [, kind, path = ''] = /^(duckdb|jsonl|postgres(?:ql)?):(.+)$/.exec(copy) ?? []
  if (kind !== undefined) return { kind, path }
  throw new UsageError(
    '--copy must be duckdb:FILE, postgres://user:password@host:5432/database or jsonl:FOLDER.',
  )
}
