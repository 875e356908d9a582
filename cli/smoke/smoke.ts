import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod/mini'
import { BASE } from '../../lib/app.ts'
import { type OpenApiDocument, responseValidator } from '../../lib/openapi/response-validator.ts'
import { ask, demandStatus, type Heard, type Service } from './ask.ts'

/** What one thing that was tried showed; `failure` is a sentence. */
export type Finding = {
  readonly what: string
  readonly says: string
  readonly failure?: string
}

/** A day before every row, which a plan moves up: so a page is as full as it can be. */
const LONG_AGO = '2000-01-01'

const Responses = z.record(z.string(), z.looseObject({}))

const Document = z.looseObject({
  openapi: z.string().check(z.startsWith('3.1')),
  paths: z.record(
    z.string().check(z.startsWith(BASE)),
    z.looseObject({
      get: z.looseObject({ parameters: z.optional(z.array(z.unknown())), responses: Responses }),
    }),
  ),
  components: z.looseObject({ headers: z.looseObject({}), responses: Responses }),
})

const Health = z.object({ status: z.literal('ok'), counter: z.string() })
const Brands = z.object({ data: z.array(z.object({ id: z.string() })) })
const Page = z.object({
  data: z.array(z.unknown()),
  pagination: z.object({ nextCursor: z.nullable(z.string()) }),
  meta: z.unknown(),
})

/**
 * Tries a running service from outside: its document, its health, a wrong key, and with a key the listing and a page or
 * two of every metric that the document describes, each answer against that document.
 */
export async function* smoke(service: Service): AsyncGenerator<Finding> {
  let document: z.infer<typeof Document> | undefined
  yield await tried('openapi.json', async () => {
    const heard = await ask(service, { path: '/openapi.json' })
    demandStatus(heard, 200)
    const read = Document.safeParse(heard.body)
    if (!read.success)
      throw new Error(`It is not the API's OpenAPI 3.1 document: ${z.prettifyError(read.error)}`)
    document = read.data
    return `${Object.keys(read.data.paths).length} paths`
  })
  yield await tried('healthz', async () => {
    const heard = await ask(service, { path: '/healthz' })
    demandStatus(heard, 200)
    const { counter } = demand(Health, heard)
    return counter === 'ok' ? 'ok' : 'ok; the counter is away, exports are served without it'
  })
  if (document === undefined) return
  yield* withDocument(service, document)
}

async function* withDocument(
  service: Service,
  document: z.infer<typeof Document> & OpenApiDocument,
): AsyncGenerator<Finding> {
  const conforms = responseValidator(document)
  const read = async (path: string, key: string, query?: Record<string, string | undefined>) => {
    const heard = await ask(service, { path, key, query: query ?? {} })
    conforms({ path: BASE + path, status: String(heard.status), headers: heard.headers, body: heard.body })
    return heard
  }
  const paths = Object.entries(document.paths).map(([path, { get }]) => ({
    path: path.slice(BASE.length),
    paged: get.parameters !== undefined,
  }))

  for (const { path } of paths.slice(0, 1)) {
    yield await tried('a wrong key', async () => {
      demandStatus(await read(path, `svc_live_${randomBytes(32).toString('hex')}`), 401)
      return 'refused'
    })
  }
  const { key } = service
  if (key === undefined) return

  let brandId: string | undefined
  for (const { path } of paths.filter(({ paged }) => !paged)) {
    yield await tried(path.slice(1), async () => {
      const heard = await read(path, key)
      demandStatus(heard, 200)
      const { data } = demand(Brands, heard)
      brandId ??= data[0]?.id
      return data.length === 0 ? 'none: no metric can be tried' : rows(data.length)
    })
  }
  if (brandId === undefined) return
  const query = { brandId, fromDate: LONG_AGO }
  for (const { path } of paths.filter(({ paged }) => paged)) {
    yield await tried(path.slice(1), async () => {
      const first = await read(path, key, query)
      demandStatus(first, 200)
      const { data, pagination, meta } = demand(Page, first)
      const cursor = pagination.nextCursor
      if (cursor === null) return rows(data.length)
      const second = await read(path, key, { ...query, cursor })
      demandStatus(second, 200)
      const next = demand(Page, second)
      const seen = new Set(data.map((row) => JSON.stringify(row)))
      if (next.data.some((row) => seen.has(JSON.stringify(row))))
        throw new Error('Its second page repeats a row.')
      if (JSON.stringify(next.meta) !== JSON.stringify(meta))
        throw new Error('Its second page has another window.')
      return `${rows(data.length)}, then ${next.data.length}`
    })
  }
}

/** Waits until the service says that it is there, or for so many seconds; what it says then is for {@link smoke} to find. */
export async function waitFor(service: Service, seconds: number): Promise<void> {
  for (let left = seconds; left > 0; left -= 1) {
    const heard = await ask(service, { path: '/healthz' }).catch(() => undefined)
    if (heard?.status === 200) return
    await sleep(1_000)
  }
}

/** Tries something that says how it went; what it throws is the failure. */
async function tried(what: string, attempt: () => Promise<string>): Promise<Finding> {
  try {
    return { what, says: await attempt() }
  } catch (error) {
    return { what, says: 'FAILED', failure: error instanceof Error ? error.message : String(error) }
  }
}

function demand<Shape extends z.core.$ZodType>(shape: Shape, { body }: Heard): z.output<Shape> {
  const read = z.safeParse(shape, body)
  if (read.success) return read.data
  throw new Error(`Its answer has not the form that it needs: ${z.prettifyError(read.error)}`)
}

const rows = (count: number): string => (count === 1 ? '1 row' : `${count} rows`)
