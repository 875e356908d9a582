import { bodyLimit } from 'hono/body-limit'
import * as z from 'zod/mini'
import { accessErrorsFirst } from '../access/access.ts'
import type { Result } from '../http/app.ts'
import type { RequestContext } from '../request/context.ts'
import { secretsOf } from '../request/hash.ts'
import { required } from '../statement/wire.ts'
import { type Commit, endLine, metadataLines, objectLine } from './actions.ts'
import { nameOf, readObjects, readTable, searchOf, type Table, versionHeader } from './call.ts'
import { malformed, shareError, tooOld } from './errors.ts'
import { type AsOf, parseAsOf, parseFeed, parseHeaders, parseQuery } from './request.ts'
import { NamedObjects, Size } from './results.ts'
import { signToken, urlSigner, verifyToken } from './signed-url.ts'
import { changesStatement, metadataStatement, snapshotStatement } from './statements.ts'

const limitBody = bodyLimit({
  maxSize: 262_144,
  onError: () => {
    throw shareError('body')
  },
})

/** Describes a table at a version. */
export async function readMetadata(context: RequestContext): Promise<Result> {
  const asOf = await parse(context, () => parseAsOf(searchOf(context)))
  const table = await readTable(context, metadataStatement, asOf)
  return lines(context, metadataLines(table, sizeOf(table)), versionOf(table, asOf))
}

/** Names the objects of a table at a version. */
export async function queryTable(context: RequestContext): Promise<Result> {
  const { named, bounds, refreshToken, includeRefreshToken, ...asked } = await parse(context, async () => {
    await limitBody(context, async () => {})
    const query = parseQuery(await context.req.text())
    return { ...query, named: await readToken(context, query.refreshToken) }
  })
  const asOf = { ...asked, ...named }
  const table = await readObjects(context, snapshotStatement, asOf, bounds)
  const version = versionOf(table, asOf)
  const isAsOf = asked.version !== '' || asked.timestamp !== ''
  const isWhole = Object.values(bounds).every((bound) => bound === undefined)
  return objectLines(context, table, {
    version,
    refreshToken,
    includeRefreshToken,
    ...(isAsOf && { commit: { version, timestamp: Date.parse(required(table.row.committed_at)) } }),
    ...(isWhole && { size: sizeOf(table) }),
  })
}

/** Returns the values of a refresh token; none without one. Throws 400 for a token that this table did not give. */
async function readToken(context: RequestContext, token: string) {
  if (token === '') return {}
  const named = await verifyToken(token, nameOf(context, 'table'), secretsOf(context.var.env))
  if (named === null) throw malformed('refreshToken', 'token')
  return named
}

/** Names the objects that versions added and removed. */
export async function readChanges(context: RequestContext): Promise<Result> {
  const feed = await parse(context, () => parseFeed(searchOf(context)))
  const table = await readObjects(context, changesStatement, feed)
  const { row, versions } = table
  const { oldest, latest } = versions
  const version = Number(row.start)
  if (version < oldest) throw tooOld(versions)
  if (version > latest + 1) throw shareError('future')
  // The next version does not exist yet: a feed that is up to date is empty.
  if (Number(row.until) < version && version <= latest) throw shareError('order')
  return objectLines(context, table, { version, commit: { version } })
}

/** {@link accessErrorsFirst}, after the headers. */
const parse = <Parsed>(context: RequestContext, rest: () => Parsed | Promise<Parsed>): Promise<Parsed> =>
  accessErrorsFirst(context, () => {
    parseHeaders(context.req.raw.headers)
    return rest()
  })

/** Returns the version of a table that was asked for; throws 400 when there is none. */
function versionOf({ row, versions }: Table, asOf: AsOf): number {
  if (row.version == null) throw tooOld(versions)
  if (Number(asOf.version) > versions.latest) throw shareError('future')
  return Number(row.version)
}

const sizeOf = ({ row }: Table): Size => z.parse(Size, JSON.parse(required(row.size)))

type Lines = {
  readonly version: number
  /** What metadata and objects say of the version; a feed's objects have commits of their own. */
  readonly commit?: Partial<Commit>
  readonly size?: Size
  readonly includeRefreshToken?: boolean
  /** The token that the client sent, which it receives again. */
  readonly refreshToken?: string
}

/** Returns the metadata of a table and a line per object, each with a signed URL. */
async function objectLines(
  context: RequestContext,
  table: Table,
  { version, commit, size, includeRefreshToken, refreshToken }: Lines,
): Promise<Result> {
  const { env, now } = context.var
  const { origin } = new URL(context.req.url)
  const seconds = Number(env.URL_SECONDS)
  const secrets = secretsOf(env)
  const { sign, expirationTimestamp } = urlSigner({ origin, now, seconds, secrets })
  const objects = z.parse(NamedObjects, JSON.parse(table.row.objects ?? '[]'))
  let body = metadataLines(table, { version: commit?.version, ...size })
  let rows = 0
  for (const object of objects) {
    body += objectLine(object, { url: await sign(object[0]), ...commit, expirationTimestamp })
    rows += object[2]
  }
  if (includeRefreshToken) {
    const brands = [...new Set(objects.map(([, , , brandId]) => brandId))]
    const named = { version, first: table.row.first ?? '', brands }
    body += endLine(refreshToken || (await signToken(named, table.name, secrets)), expirationTimestamp)
  }
  return { ...lines(context, body, version), rows }
}

const lines = (context: RequestContext, body: string, version: number): Result => ({
  body,
  headers: {
    'Content-Type': 'application/x-ndjson; charset=utf-8',
    ...parseHeaders(context.req.raw.headers),
    ...versionHeader(version),
  },
  cacheable: false,
})
