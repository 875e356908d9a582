import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod/mini'
import { UsageError } from '../../drizzle/db/connect.ts'
import { BASE } from '../../lib/app.ts'
import { type OpenApiDocument, responseValidator } from '../../lib/openapi/response-validator.ts'
import { expectBody, expectStatus, get, getText, type Service } from './client.ts'

/** The outcome of one check; `failure` is a sentence. */
type Finding = { readonly name: string; readonly result: string; readonly failure?: string }

/** Before every row, so that the window is as wide as the plan allows and the page as full as possible. */
const EARLIEST = '2000-01-01'

const Document = z.looseObject({
  openapi: z.string().check(z.startsWith('3.1')),
  paths: z.record(
    z.string().check(z.startsWith(BASE)),
    z.looseObject({
      get: z.looseObject({
        parameters: z.array(z.object({ $ref: z.string() })),
        responses: z.record(z.string(), z.looseObject({})),
      }),
    }),
  ),
  components: z.looseObject({
    headers: z.looseObject({}),
    responses: z.record(z.string(), z.looseObject({})),
  }),
})

const Health = z.object({ status: z.literal('ok'), counter: z.string() })
const Brands = z.object({ data: z.array(z.object({ id: z.string() })) })
const Page = z.object({
  data: z.array(z.unknown()),
  pagination: z.object({ nextCursor: z.nullable(z.string()) }),
  meta: z.unknown(),
})

/** Tests a service and prints a table. Throws `UsageError` with a line for each failure. */
export async function runSmoke(service: Service): Promise<void> {
  const failures: string[] = []
  for await (const { name, result, failure } of smoke(service)) {
    console.log(`${name.padEnd(20)} ${result}`)
    if (failure !== undefined) failures.push(`${name}: ${failure}`)
  }
  if (service.key === undefined) {
    console.log('Skipped all checks that need a key. To run them, set EXPORT_API_KEY and run npm run smoke.')
  }
  if (failures.length > 0) throw new UsageError(failures.join('\n'))
}

/**
 * Checks the OpenAPI document, the health and a wrong key. With a key, it also checks the brands listing and the first two
 * pages of each metric in the document, each response against the document, and the rows of a file against those of a page.
 */
export async function* smoke({ url, key }: Service): AsyncGenerator<Finding> {
  let document: (z.infer<typeof Document> & OpenApiDocument) | undefined
  yield await check('openapi.json', async () => {
    const response = await get(url, '/openapi.json')
    expectStatus(response, 200)
    document = expectBody(Document, response)
    return `${Object.keys(document.paths).length} paths`
  })
  yield await check('healthz', async () => {
    const response = await get(url, '/healthz')
    expectStatus(response, 200)
    const { counter } = expectBody(Health, response)
    return counter === 'ok' ? 'ok' : 'ok; Redis is down, requests are not limited'
  })
  if (document === undefined) return

  const conforms = responseValidator(document)
  const read = async (path: string, key: string, query?: Record<string, string>) => {
    const response = await get(url, path, key, query)
    const { status, headers, body } = response
    conforms({ path: BASE + path, status: String(status), headers, body })
    return response
  }
  const endpoints = Object.entries(document.paths).map(([path, { get }]) => ({
    path: path.slice(BASE.length),
    paged: get.parameters.some(({ $ref }) => $ref.endsWith('/brandId')),
  }))
  const listing = endpoints.find(({ paged }) => !paged)?.path ?? '/brands'

  yield await check('a wrong key', async () => {
    expectStatus(await read(listing, `svc_live_${randomBytes(32).toString('hex')}`), 401)
    return 'rejected'
  })
  if (key === undefined) return

  let brandId: string | undefined
  yield await check(listing.slice(1), async () => {
    const response = await read(listing, key)
    expectStatus(response, 200)
    const { data } = expectBody(Brands, response)
    brandId = data[0]?.id
    return data.length === 0 ? 'none; metrics are not checked' : rows(data.length)
  })
  if (brandId === undefined) return
  const query = { brandId, fromDate: EARLIEST }
  const page = async (path: string, more: Record<string, string> = {}) => {
    const response = await read(path, key, { ...query, ...more })
    expectStatus(response, 200)
    return expectBody(Page, response)
  }
  for (const { path } of endpoints.filter(({ paged }) => paged)) {
    yield await check(path.slice(1), async () => {
      const first = await page(path)
      const cursor = first.pagination.nextCursor
      if (cursor === null) return rows(first.data.length)
      const second = await page(path, { cursor })
      const seen = new Set(first.data.map((row) => JSON.stringify(row)))
      if (second.data.some((row) => seen.has(JSON.stringify(row)))) {
        throw new Error('The second page repeats a row.')
      }
      if (JSON.stringify(second.meta) !== JSON.stringify(first.meta)) {
        throw new Error('The second page has a different window.')
      }
      return `${rows(first.data.length)}, then ${second.data.length}`
    })
  }
  const path = endpoints.find(({ paged }) => paged)?.path ?? ''
  yield await check('a file', async () => {
    // The default window: a file of all rows could take minutes.
    const { brandId } = query
    const response = await read(path, key, { brandId })
    expectStatus(response, 200)
    const { data, pagination } = expectBody(Page, response)
    const { status, text } = await getText(url, path, key, { brandId, format: 'ndjson' })
    if (status !== 200) throw new Error(`Expected 200, got ${status}.`)
    const lines = text.split('\n').slice(0, -1)
    const compared = pagination.nextCursor === null ? lines : lines.slice(0, data.length)
    // The texts differ: JavaScript drops the zeros of 33.3000.
    if (JSON.stringify(compared.map((line) => JSON.parse(line))) !== JSON.stringify(data)) {
      throw new Error('The file differs from the first page.')
    }
    return rows(lines.length)
  })
}

/** Waits until the health check succeeds, at most so many seconds. The smoke test then reports what is wrong. */
export async function waitFor({ url }: Service, seconds: number): Promise<void> {
  for (let left = seconds; left > 0; left -= 1) {
    const response = await get(url, '/healthz').catch(() => undefined)
    if (response?.status === 200) return
    await sleep(1_000)
  }
}

async function check(name: string, run: () => Promise<string>): Promise<Finding> {
  try {
    return { name, result: await run() }
  } catch (error) {
    return { name, result: 'FAILED', failure: error instanceof Error ? error.message : String(error) }
  }
}

const rows = (count: number): string => (count === 1 ? '1 row' : `${count} rows`)
