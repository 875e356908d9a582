import * as z from 'zod/mini'
import { authorize, requireKeyHash } from '../access/access.ts'
import type { Plan } from '../access/plans.ts'
import { databaseError, type Row, run } from '../database/db.ts'
import type { Statement } from '../database/statement.ts'
import type { RequestContext } from '../request/context.ts'
import { EVERY_DAY, resolveWindow, windowByPlan } from '../statement/window.ts'
import { required } from '../statement/wire.ts'
import { fromBucket } from './api.ts'
import { bucketOf, objectName } from './bucket.ts'
import { shareError } from './errors.ts'
import type { Bounds } from './hints.ts'
import type { Column } from './parquet.ts'
import { Tables } from './results.ts'
import { shareStatement } from './statements.ts'

/** The only share and its only schema. */
export const SHARE = 'export'
export const SCHEMA = 'metrics'

/** An object that no publisher writes: asking for it tells whether the bucket answers. */
const NO_OBJECT = objectName('none')

/** The versions that can be read. */
type Versions = { readonly oldest: number; readonly oldestAt: string; readonly latest: number }

/** What every call says of the share. Versions are null before the first one. */
export type Share = {
  readonly row: Row
  readonly tables: Readonly<Record<string, readonly Column[]>>
  readonly versions: Versions | null
}

/** A table and what a statement said of it. */
export type Table = {
  readonly row: Row
  readonly name: string
  readonly columns: readonly Column[]
  readonly versions: Versions
}

export const searchOf = (context: RequestContext): URLSearchParams => new URL(context.req.url).searchParams

/** Returns bounds as an array and as a multirange of Postgres; empty without a bound. */
const valuesOf = ({ brand_id, date }: Bounds) => ({
  brand_ids: brand_id === undefined ? '' : `{${brand_id.map(({ from }) => from).join(',')}}`,
  days: date === undefined ? '' : `{${date.map(({ from, to }) => `[${from},${to}]`).join(',')}}`,
})

/** Reads what every call says of the share. */
export const readShare = (context: RequestContext, startingTimestamp = ''): Promise<Share> =>
  runShare(context, shareStatement, { startingTimestamp })

/** Runs a statement that names objects, while it asks whether the bucket answers. */
export async function readObjects(...all: Parameters<typeof readTable>): Promise<Table> {
  const [context] = all
  const answers = fromBucket(context, () => bucketOf(context.env).head(NO_OBJECT))
  answers.catch(() => {})
  const table = await readTable(...all)
  await answers
  return table
}

/** Runs a statement on the table of the request's path, within the days and brands that the key reads. */
export async function readTable(
  context: RequestContext,
  statement: Statement,
  values: Readonly<Record<string, string>>,
  bounds: Bounds = {},
): Promise<Table> {
  const { now } = context.var
  const window_by_plan = windowByPlan((plan: Plan) => resolveWindow(EVERY_DAY, plan, now))
  // The database takes no text with a NUL.
  const metric = nameOf(context, 'table').replaceAll('\0', '')
  const all = { window_by_plan, metric, token_first: '', token_brands: '', ...values, ...valuesOf(bounds) }
  const share = await runShare(context, statement, all)
  return tableOf(context, share)
}

/** Runs a statement, checks key and plan, and throws 404 for another share or schema. */
async function runShare(
  context: RequestContext,
  statement: Statement,
  values: Readonly<Record<string, string>>,
): Promise<Share> {
  const { env, now, log } = context.var
  const result = await run({ env, log }, statement, {
    key_hash: requireKeyHash(context),
    now: now.toISOString(),
    ...values,
  })
  const row = authorize(result, log)
  if (nameOf(context, 'share', SHARE) !== SHARE) throw shareError('share')
  if (nameOf(context, 'schema', SCHEMA) !== SCHEMA) throw shareError('schema')
  try {
    const { oldest, oldest_at, latest } = row
    return {
      row,
      tables: z.parse(Tables, JSON.parse(required(row.tables))),
      versions:
        latest == null
          ? null
          : { oldest: Number(oldest), oldestAt: required(oldest_at), latest: Number(latest) },
    }
  } catch (error) {
    throw databaseError(error, log)
  }
}

/** Returns the table of the request's path; throws 404, and 503 before the first version. */
export function tableOf(context: RequestContext, { row, tables, versions }: Share): Table {
  const name = nameOf(context, 'table')
  const columns = Object.hasOwn(tables, name) ? tables[name] : undefined
  if (columns === undefined) throw shareError('table')
  if (versions === null) throw shareError('unpublished', { 'Retry-After': '300' })
  return { row, name, columns, versions }
}

/** Returns the header by which a response names a version. */
export const versionHeader = (version: number) => ({ 'delta-table-version': String(version) })

/** Returns a name of the path in lower case: names are case-insensitive. */
export const nameOf = (context: RequestContext, part: string, fallback = ''): string =>
  (context.req.param(part) ?? fallback).toLowerCase()
