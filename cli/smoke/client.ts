import * as z from 'zod/mini'
import { ExportApi, ExportApiError } from '../../connectors/typescript/src/index.ts'
import { reasonOf } from '../../drizzle/db/connect.ts'
import { BASE } from '../../lib/http/app.ts'
import type { responseValidator } from '../../site/reference/openapi/response-validator.ts'

const TIMEOUT_MS = 30_000
const USER_AGENT = 'export-api-smoke'

/** What clients without a User-Agent of their own send, and Cloudflare's rules may reject. */
const OTHER_AGENTS = ['Python-urllib/3.13', 'python-requests/2.32.5', 'Go-http-client/1.1', 'curl/8.14.1']

/** The origin of the service under test, and the key to read it with. */
export type Service = { readonly url: string; readonly key?: string | undefined }

const ErrorBody = z.object({ error: z.string() })

/** Returns a client that retries nothing and checks each response. What a check throws is the cause of the client's error. */
export const createClient = (
  { url, key }: { readonly url: string; readonly key: string },
  conforms: ReturnType<typeof responseValidator>,
): ExportApi =>
  new ExportApi({
    baseUrl: url,
    apiKey: key,
    userAgent: USER_AGENT,
    onRetry: ({ error }) => {
      throw error
    },
    fetch: async (input, init) => {
      const response = await send(input, init)
      const { pathname: path } = new URL(new Request(input).url)
      const { status, headers } = response
      conforms({ path, status: String(status), headers, body: await readJson(response.clone()) })
      return response
    },
  })

/** Requests a path under the API's base. Throws `ExportApiError` when the status is not 200. */
export async function get({ url, key }: Service, path: string, agent = USER_AGENT): Promise<Response> {
  const response = await send(new URL(BASE + path, url), {
    headers: { 'User-Agent': agent, ...(key !== undefined && { 'X-API-Key': key }) },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  const { status } = response
  if (status === 200) return response
  const { data } = ErrorBody.safeParse(await readJson(response))
  throw new ExportApiError(data?.error ?? 'no message', { status })
}

/** Requests the health check as other clients do. Throws an error whose message names the first that is not served. */
export async function serveOthers(service: Service): Promise<void> {
  for (const agent of OTHER_AGENTS) {
    await get(service, '/healthz', agent).catch((error) => {
      throw new Error(`${agent}: ${reasonOf(error)}.`)
    })
  }
}

/** Requests JSON of some shape. Throws an error whose message is a sentence. */
export async function getJson<Shape extends z.core.$ZodType>(
  { url }: Service,
  path: string,
  shape: Shape,
): Promise<z.output<Shape>> {
  const parsed = z.safeParse(shape, await readJson(await get({ url }, path)))
  if (parsed.success) return parsed.data
  throw new Error(`The body is malformed: ${z.prettifyError(parsed.error)}`)
}

const send: typeof fetch = (input, init) =>
  fetch(input, init).catch((error) => {
    throw new Error(
      `Cannot reach ${new URL(new Request(input).url).origin}: ${reasonOf(error.cause ?? error)}.`,
    )
  })

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text()
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(
      `${response.url} returned ${response.status} with a non-JSON body. Check API_URL, the route, and the rules of the zone: docs/deploy.md#before-the-workers.`,
    )
  }
}
