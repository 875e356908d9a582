import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod/mini'
import {
  ConnectionError,
  ExportApiError,
  type Page,
  UnauthorizedError,
} from '../../connectors/typescript/src/index.ts'
import { messageMaker } from '../../connectors/typescript/src/message.ts'
import { UsageError } from '../../drizzle/db/connect.ts'
import { BASE } from '../../lib/http/app.ts'
import { type OpenApiDocument, responseValidator } from '../../site/reference/openapi/response-validator.ts'
import { createClient, get, getJson, type Service, serveOthers } from './client.ts'

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
 * Checks the OpenAPI document, the health, the User-Agents of other clients and a wrong key. With a key, it also checks
 * the brands and the first two pages of each metric in the document, each response against the document, and the rows of
 * a file against those of a page.
 */
export async function* smoke({ url, key }: Service): AsyncGenerator<Finding> {
  const check = checker(key)
  let document: (z.infer<typeof Document> & OpenApiDocument) | undefined
  yield await check('openapi.json', async () => {
    document = await getJson({ url }, '/openapi.json', Document)
    return `${Object.keys(document.paths).length} paths`
  })
  yield await check('healthz', async () => {
    const { counter } = await getJson({ url }, '/healthz', Health)
    return counter === 'ok' ? 'ok' : 'ok; Redis is down, requests are not limited'
  })
  yield await check('other clients', async () => {
    await serveOthers({ url })
    return 'served'
  })
  if (document === undefined) return

  const conforms = responseValidator(document)
  yield await check('a wrong key', async () => {
    const wrong = createClient({ url, key: `svc_live_${randomBytes(32).toString('hex')}` }, conforms)
    const error = await wrong.brands().catch((error: unknown) => error)
    if (error instanceof UnauthorizedError) return 'rejected'
    throw error instanceof Error ? error : new Error('Expected 401, got 200.')
  })
  if (key === undefined) return

  const api = createClient({ url, key }, conforms)
  let brandId: string | undefined
  yield await check('brands', async () => {
    const brands = await api.brands()
    brandId = brands[0]?.id
    return brands.length === 0 ? 'none; metrics are not checked' : rows(brands.length)
  })
  if (brandId === undefined) return
  const window = { brandId, fromDate: EARLIEST }
  const endpoints = Object.entries(document.paths)
    .filter(([, { get }]) => get.parameters.some(({ $ref }) => $ref.endsWith('/cursor')))
    .map(([path]) => path.slice(`${BASE}/`.length))
  for (const endpoint of endpoints) {
    yield await check(endpoint, async () => {
      const { pages } = endpoint === 'changes' ? api.changedDays : api.metric(endpoint)
      const [first, second] = await take(2, pages(window))
      if (first === undefined || second === undefined) return rows(first?.rows.length ?? 0)
      const seen = new Set(first.rows.map((row) => JSON.stringify(row)))
      if (second.rows.some((row) => seen.has(JSON.stringify(row)))) {
        throw new Error('The second page repeats a row.')
      }
      if (JSON.stringify(second.meta) !== JSON.stringify(first.meta)) {
        throw new Error('The second page has a different window.')
      }
      return `${rows(first.rows.length)}, then ${second.rows.length}`
    })
  }
  const [endpoint = ''] = endpoints
  yield await check('a file', async () => {
    // The default window: a file of all rows could take minutes.
    const { brandId } = window
    const [page] = await take(1, api.metric(endpoint).pages({ brandId }))
    const file = await get({ url, key }, `/${endpoint}?brandId=${brandId}&format=ndjson`)
    const lines = (await file.text()).split('\n').slice(0, -1)
    const compared = page?.hasMore ? lines.slice(0, page.rows.length) : lines
    // The texts differ: JavaScript drops the zeros of 33.3000.
    if (JSON.stringify(compared.map((line) => JSON.parse(line))) !== JSON.stringify(page?.rows)) {
      throw new Error('The file differs from the first page.')
    }
    return rows(lines.length)
  })
}

/** Waits until the health check succeeds, at most so many seconds. The smoke test then reports what is wrong. */
export async function waitFor({ url }: Service, seconds: number): Promise<void> {
  for (let left = seconds; left > 0; left -= 1) {
    const response = await get({ url }, '/healthz').catch(() => undefined)
    if (response !== undefined) return
    await sleep(1_000)
  }
}

/** Returns the first pages, at most so many. */
async function take(most: number, pages: AsyncIterable<Page<object>>): Promise<Page<object>[]> {
  const taken: Page<object>[] = []
  for await (const page of pages) if (taken.push(page) === most) break
  return taken
}

/** Returns a function that runs a check. A gateway can repeat the key in a failure. */
const checker =
  (key = '') =>
  async (name: string, run: () => Promise<string>): Promise<Finding> => {
    try {
      return { name, result: await run() }
    } catch (error) {
      return { name, result: 'FAILED', failure: messageMaker(key)(describe(error)) }
    }
  }

function describe(error: unknown): string {
  if (error instanceof ConnectionError) return describe(error.cause)
  if (error instanceof ExportApiError) return `Expected 200, got ${error.status}: ${error.message}`
  return error instanceof Error ? error.message : String(error)
}

const rows = (count: number): string => (count === 1 ? '1 row' : `${count} rows`)
