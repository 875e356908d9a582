import { bodyLimit } from 'hono/body-limit'
import { authorize, requireKeyHash, requireValid } from '../access/authorize.ts'
import type { Plan } from '../access/plans.ts'
import { type App, nameEndpoint, type RequestContext, type Result, send } from '../app.ts'
import { databaseError, type Row, run } from '../db.ts'
import { prepareContext, throwError } from '../endpoint.ts'
import { secretsOf } from '../hmac.ts'
import { required } from '../page/cells.ts'
import { rateLimit } from '../rate-limit.ts'
import { EVERY_DAY, resolveWindow } from '../window.ts'
import { windowByPlan } from '../window-by-plan.ts'
import { type File, fileLine, metadataLines } from './actions.ts'
import { createShareApp, fromBucket, methods } from './api.ts'
import { bucketOf, objectName } from './bucket.ts'
import { shareError, tooOld } from './errors.ts'
import type { Bounds } from './hints.ts'
import type { Column } from './parquet.ts'
import { listBody, parseFeed, parsePage, parseQuery, parseStart, requireParquet } from './request.ts'
import { SHARE_BASE, urlSigner } from './signed-url.ts'
import { changesStatement, shareStatement, snapshotStatement } from './statements.ts'

const SHARE = 'export'
const SCHEMA = 'metrics'

const limitBody = bodyLimit({
  maxSize: 1_048_576,
  onError: () => {
    throw shareError('body')
  },
})

/** An object that no publisher writes: asking for it tells whether the bucket answers. */
const NO_OBJECT = objectName('none')

/** The versions that can be read. */
type Versions = { readonly oldest: number; readonly oldestAt: string; readonly latest: number }

/** What every call says of the share. Versions are null before the first one. */
type Share = {
  readonly row: Row
  readonly tables: Readonly<Record<string, readonly Column[]>>
  readonly versions: Versions | null
}

/** A table and what a statement said of it. */
type Table = {
  readonly row: Row
  readonly name: string
  readonly columns: readonly Column[]
  readonly versions: Versions
}

type Handler = (context: RequestContext) => Promise<Result>

/** Builds the Worker of the Delta Sharing protocol (docs/share.md): one statement per call, files by signed URLs. */
export function sharing(): App {
  const app = createShareApp()
  const get = (path: string, handler: Handler) => {
    app.use(SHARE_BASE + path, nameEndpoint(`/share${/\/[a-z-]+$/.exec(path)?.[0] ?? ''}`))
    app.get(SHARE_BASE + path, prepareContext, rateLimit(), (context) => respond(context, handler))
    app.all(SHARE_BASE + path, methods('GET, HEAD'))
  }
  get('/shares', listShares)
  get('/shares/:share', describeShare)
  get('/shares/:share/schemas', listSchemas)
  get('/shares/:share/schemas/:schema/tables', listTables)
  get('/shares/:share/all-tables', listTables)
  get('/shares/:share/schemas/:schema/tables/:table/version', readVersion)
  get('/shares/:share/schemas/:schema/tables/:table/metadata', readMetadata)
  get('/shares/:share/schemas/:schema/tables/:table/changes', readChanges)
  const query = `${SHARE_BASE}/shares/:share/schemas/:schema/tables/:table/query`
  app.use(query, nameEndpoint('/share/query'))
  app.post(query, prepareContext, rateLimit(), (context) => respond(context, queryTable))
  app.all(query, methods('POST'))
  return app
}

const respond = async (context: RequestContext, handler: Handler): Promise<Response> =>
  send(context, await handler(context).catch(throwError))

// Lists

const listShares: Handler = async (context) => {
  const page = await parseValid(context, () => parsePage(searchOf(context)))
  await readShare(context)
  return json(listBody([{ name: SHARE }], page))
}

const describeShare: Handler = async (context) => {
  await readShare(context)
  return json(JSON.stringify({ share: { name: SHARE } }))
}

const listSchemas: Handler = async (context) => {
  const page = await parseValid(context, () => parsePage(searchOf(context)))
  await readShare(context)
  return json(listBody([{ name: SCHEMA, share: SHARE }], page))
}

const listTables: Handler = async (context) => {
  const page = await parseValid(context, () => parsePage(searchOf(context)))
  const { tables } = await readShare(context)
  const items = Object.keys(tables).map((name) => ({ name, schema: SCHEMA, share: SHARE }))
  return json(listBody(items, page))
}

const json = (body: string): Result => ({ body, cacheable: true })

// Tables

const readVersion: Handler = async (context) => {
  const startingTimestamp = await parseValid(context, () => parseStart(searchOf(context)))
  const { row, versions } = tableOf(context, await readShare(context, startingTimestamp))
  if (startingTimestamp !== '' && row.start == null) throw shareError('future')
  return { body: '', headers: versionHeader(Number(row.start ?? versions.latest)), cacheable: false }
}

const readMetadata: Handler = async (context) => {
  await parseValid(context, () => requireParquet(context.req.header(CAPABILITIES)))
  const { name, columns, versions } = tableOf(context, await readShare(context))
  return lines(metadataLines(name, columns), versions.latest)
}

const queryTable: Handler = async (context) => {
  const { version, timestamp, bounds } = await parseValid(context, async () => {
    requireParquet(context.req.header(CAPABILITIES))
    await limitBody(context, async () => {})
    return parseQuery(await context.req.text())
  })
  const values = { version, timestamp, ...valuesOf(bounds) }
  const table = await readTable(context, snapshotStatement, values)
  const { row, versions } = table
  if (row.version == null) throw tooOld(versions)
  if (Number(version) > versions.latest) throw shareError('future')
  return fileLines(context, table, Number(row.version))
}

const readChanges: Handler = async (context) => {
  const feed = await parseValid(context, () => {
    requireParquet(context.req.header(CAPABILITIES))
    return parseFeed(searchOf(context))
  })
  const table = await readTable(context, changesStatement, {
    starting_version: feed.startingVersion,
    starting_timestamp: feed.startingTimestamp,
    ending_version: feed.endingVersion,
    ending_timestamp: feed.endingTimestamp,
    ...valuesOf({}),
  })
  const { row, versions } = table
  const { oldest, latest } = versions
  const start = Number(row.start)
  if (start < oldest) throw tooOld(versions)
  if (start > latest + 1) throw shareError('future')
  // The next version does not exist yet: a feed that is up to date is empty.
  if (Number(row.until) < start && start <= latest) throw shareError('order')
  return fileLines(context, table, start)
}

/** Returns the metadata of a table and a line per file, each with a signed URL. */
async function fileLines(
  context: RequestContext,
  { name, columns, row }: Table,
  version: number,
): Promise<Result> {
  const { env, now } = context.var
  const files: readonly File[] = JSON.parse(row.files ?? '[]')
  const urls = urlSigner(new URL(context.req.url).origin, now, secretsOf(env))
  let body = metadataLines(name, columns)
  let rows = 0
  for (const file of files) {
    body += fileLine(file, await urls.sign(file[0]), urls.expiration)
    rows += file[2]
  }
  return { ...lines(body, version), rows }
}

const CAPABILITIES = 'delta-sharing-capabilities'

const versionHeader = (version: number) => ({ 'delta-table-version': String(version) })

const lines = (body: string, version: number): Result => ({
  body,
  headers: {
    'Content-Type': 'application/x-ndjson; charset=utf-8',
    [CAPABILITIES]: 'responseformat=parquet',
    ...versionHeader(version),
  },
  cacheable: false,
})

// Statements

const searchOf = (context: RequestContext): URLSearchParams => new URL(context.req.url).searchParams

/** Returns what `parse` returns; a wrong key or plan comes before its error. */
function parseValid<Parsed>(context: RequestContext, parse: () => Parsed | Promise<Parsed>): Promise<Parsed> {
  const { env, log, now } = context.var
  return requireValid({ env, log, key_hash: requireKeyHash(context), now }, parse)
}

const valuesOf = ({ brandIds, from = '', to = '' }: Bounds) => ({
  brand_ids: brandIds === undefined ? '' : JSON.stringify(brandIds),
  from,
  to,
})

const readShare = (context: RequestContext, starting_timestamp = ''): Promise<Share> =>
  runShare(context, shareStatement, { starting_timestamp })

/** Runs a statement that names files, while it asks whether the bucket answers. */
async function readTable(
  context: RequestContext,
  statement: typeof snapshotStatement,
  values: Readonly<Record<string, string>>,
): Promise<Table> {
  const answers = fromBucket(context, () => bucketOf(context.env).head(NO_OBJECT))
  answers.catch(() => {})
  const { now } = context.var
  const window_by_plan = windowByPlan((plan: Plan) => resolveWindow(EVERY_DAY, plan, now))
  // The database takes no text with a NUL.
  const metric = nameOf(context, 'table').replaceAll('\0', '')
  const share = await runShare(context, statement, { window_by_plan, metric, ...values })
  const table = tableOf(context, share)
  await answers
  return table
}

/** Runs a statement, checks key and plan, and throws 404 for another share or schema. */
async function runShare(
  context: RequestContext,
  statement: typeof shareStatement,
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
      tables: JSON.parse(required(row.tables)),
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
function tableOf(context: RequestContext, { row, tables, versions }: Share): Table {
  const name = nameOf(context, 'table')
  const columns = Object.hasOwn(tables, name) ? tables[name] : undefined
  if (columns === undefined) throw shareError('table')
  if (versions === null) throw shareError('unpublished', { 'Retry-After': '300' })
  return { row, name, columns, versions }
}

/** Returns a name of the path in lower case: names are case-insensitive. */
const nameOf = (context: RequestContext, part: string, fallback = ''): string =>
  (context.req.param(part) ?? fallback).toLowerCase()
