import { bodyLimit } from 'hono/body-limit'
import { type App, nameEndpoint, type RequestContext, type Result, send } from '../app.ts'
import { limits, throwError } from '../endpoint.ts'
import { secretsOf } from '../hmac.ts'
import { type File, fileLine, metadataLines } from './actions.ts'
import { createShareApp, methods } from './api.ts'
import {
  parseValid,
  readShare,
  readTable,
  SCHEMA,
  SHARE,
  type Share,
  searchOf,
  type Table,
  tableOf,
} from './call.ts'
import { shareError, tooOld } from './errors.ts'
import { listBody, parseFeed, parsePage, parseQuery, parseStart, requireParquet } from './request.ts'
import { SHARE_BASE, urlSigner } from './signed-url.ts'
import { changesStatement, snapshotStatement } from './statements.ts'

const limitBody = bodyLimit({
  maxSize: 1_048_576,
  onError: () => {
    throw shareError('body')
  },
})

type Handler = (context: RequestContext) => Promise<Result>

/** Builds the Worker of the Delta Sharing protocol (docs/share.md): one statement per call, files by signed URLs. */
export function sharing(): App {
  const app = createShareApp()
  const get = (path: string, name: string, handler: Handler) => {
    app.use(SHARE_BASE + path, nameEndpoint(name))
    app.get(SHARE_BASE + path, ...limits(), (context) => respond(context, handler))
    app.all(SHARE_BASE + path, methods('GET, HEAD'))
  }
  get(
    '/shares',
    '/share/shares',
    list(() => [{ name: SHARE }]),
  )
  get('/shares/:share', '/share/shares', describeShare)
  get(
    '/shares/:share/schemas',
    '/share/schemas',
    list(() => [{ name: SCHEMA, share: SHARE }]),
  )
  get('/shares/:share/schemas/:schema/tables', '/share/tables', list(tablesOf))
  get('/shares/:share/all-tables', '/share/tables', list(tablesOf))
  get(`${TABLE}/version`, '/share/version', readVersion)
  get(`${TABLE}/metadata`, '/share/metadata', readMetadata)
  get(`${TABLE}/changes`, '/share/changes', readChanges)
  const query = `${SHARE_BASE}${TABLE}/query`
  app.use(query, nameEndpoint('/share/query'))
  app.post(query, ...limits(), (context) => respond(context, queryTable))
  app.all(query, methods('POST'))
  return app
}

const TABLE = '/shares/:share/schemas/:schema/tables/:table'

const respond = async (context: RequestContext, handler: Handler): Promise<Response> =>
  send(context, await handler(context).catch(throwError))

const list =
  (itemsOf: (share: Share) => readonly object[]): Handler =>
  async (context) => {
    const page = await parseValid(context, () => parsePage(searchOf(context)))
    return { body: listBody(itemsOf(await readShare(context)), page), cacheable: true }
  }

const tablesOf = ({ tables }: Share) =>
  Object.keys(tables).map((name) => ({ name, schema: SCHEMA, share: SHARE }))

const describeShare: Handler = async (context) => {
  await readShare(context)
  return { body: JSON.stringify({ share: { name: SHARE } }), cacheable: true }
}

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
  const table = await readTable(context, snapshotStatement, { version, timestamp }, bounds)
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
