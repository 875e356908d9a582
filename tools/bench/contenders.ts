import { randomUUID } from 'node:crypto'
import { BASE } from '../../lib/app.ts'
import type { HttpRequest } from './http.ts'
import { FIRST_DAY } from './million.ts'
import { type ServerProcess, startProcess } from './servers/start.ts'
import { LAST_DAY } from './volume.ts'

/** The data that a server pages through: a year of one brand's citation share. */
export type Data = {
  readonly databaseUrl: string
  readonly redisUrl: string | undefined
  readonly brandId: string
  readonly key: string
}

export type Row = Readonly<Record<string, unknown>>

/** A running server, and how to page through it. */
export type Server = ServerProcess & {
  /** The request of the first page, or of the page of a cursor. */
  readonly page: (cursor: string | null) => HttpRequest
  /** The cursor of the next page. */
  readonly next: (body: unknown) => string | null
  readonly rows: (body: unknown) => readonly Row[]
  /** Whether only the workerd processes of the server count as its CPU. */
  readonly isWorkerd?: true
}

export type Contender = { readonly name: string; readonly start: (data: Data) => Promise<Server> }

/** The service itself, with the emulator in front of PostgreSQL and Redis. */
export const service: Contender = {
  name: 'this service',
  start: async (data) => ({
    ...(await startProcess('service.ts', data)),
    ...servicePages(data),
    isWorkerd: true,
  }),
}

/** Hono on Node with pg: a server as one would write it by hand, without access checks. */
export const byHand: Contender = {
  name: 'Hono + pg, by hand',
  start: async (data) => ({
    ...(await startProcess('hono.ts', data)),
    ...pages(`/citation-share?${window(data)}`),
  }),
}

/** How to page through the service. Each client sends 50 requests, half of its budget. */
export function servicePages(data: Data): Omit<Server, keyof ServerProcess> {
  const run = randomUUID()
  let requests = 0
  const headers = () => {
    requests += 1
    return { 'X-API-Key': data.key, 'User-Agent': `${run} ${Math.floor(requests / 50)}` }
  }
  return pages(`${BASE}/citation-share?${window(data)}`, headers)
}

const window = ({ brandId }: Data) =>
  new URLSearchParams({ brandId, fromDate: FIRST_DAY, toDate: LAST_DAY }).toString()

function pages(path: string, headers: () => Record<string, string> = () => ({})) {
  return {
    page: (cursor: string | null): HttpRequest => ({
      path: cursor === null ? path : `${path}&cursor=${cursor}`,
      headers: headers(),
    }),
    next: (body: unknown): string | null => {
      const cursor = at(body, 'pagination', 'nextCursor')
      return typeof cursor === 'string' ? cursor : null
    },
    rows: (body: unknown) => rowsIn(at(body, 'data')),
  }
}

/** Returns a member of a parsed body. */
export function at(body: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined),
    body,
  )
}

export const rowsIn = (value: unknown): readonly Row[] => (Array.isArray(value) ? value : [])
