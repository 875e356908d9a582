import { accessErrorsFirst } from '../access/access.ts'
import { type Result, send } from '../http/app.ts'
import { checks, throwError } from '../http/endpoint.ts'
import type { App, RequestContext } from '../request/context.ts'
import { createShareApp } from './api.ts'
import { readShare, SCHEMA, SHARE, type Share, searchOf, tableOf, versionHeader } from './call.ts'
import { shareError, tooOld } from './errors.ts'
import { queryTable, readChanges, readMetadata } from './lines.ts'
import { listBody, parsePage, parseStart } from './request.ts'
import { SHARE_BASE } from './signed-url.ts'

type Handler = (context: RequestContext) => Promise<Result>

const TABLE = '/shares/:share/schemas/:schema/tables/:table'

/** Builds the Worker of the Delta Sharing protocol (docs/share.md): one statement per call, objects by signed URLs. */
export function share(): App {
  const app = createShareApp()
  const route = (allow: string, path: string, name: string, handler: Handler) => {
    app.use(SHARE_BASE + path, ...checks({ path: name, allow }))
    app.all(SHARE_BASE + path, async (context) => send(context, await handler(context).catch(throwError)))
  }
  const get = (path: string, name: string, handler: Handler) => route('GET, HEAD', path, name, handler)
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
  // As older clients ask for the version.
  route('HEAD', TABLE, '/share/version', readVersion)
  get(`${TABLE}/version`, '/share/version', readVersion)
  get(`${TABLE}/metadata`, '/share/metadata', readMetadata)
  get(`${TABLE}/changes`, '/share/changes', readChanges)
  route('POST', `${TABLE}/query`, '/share/query', queryTable)
  return app
}

const list =
  (itemsOf: (share: Share) => readonly object[]): Handler =>
  async (context) => {
    const page = await accessErrorsFirst(context, () => parsePage(searchOf(context)))
    return { body: listBody(itemsOf(await readShare(context)), page), cacheable: true }
  }

const tablesOf = ({ tables }: Share) =>
  Object.keys(tables).map((name) => ({ name, schema: SCHEMA, share: SHARE }))

const describeShare: Handler = async (context) => {
  await readShare(context)
  return { body: JSON.stringify({ share: { name: SHARE } }), cacheable: true }
}

const readVersion: Handler = async (context) => {
  const startingTimestamp = await accessErrorsFirst(context, () => parseStart(searchOf(context)))
  const { row, versions } = tableOf(context, await readShare(context, startingTimestamp))
  if (startingTimestamp !== '' && startingTimestamp < versions.oldestAt) throw tooOld(versions)
  if (startingTimestamp !== '' && row.start == null) throw shareError('future')
  return { body: '', headers: versionHeader(Number(row.start ?? versions.latest)), cacheable: false }
}
