import * as z from 'zod/mini'
import { reasonOf, UsageError } from '../../drizzle/db/connect.ts'
import { BASE } from '../../lib/app.ts'

const TIMEOUT_MS = 30_000

/** The service under test, and the key to read it with. */
export type Service = { readonly url: string; readonly key?: string | undefined }

type Query = Readonly<Record<string, string | undefined>>

/** A response whose body is JSON. */
export type JsonResponse = { readonly status: number; readonly headers: Headers; readonly body: unknown }

const ErrorBody = z.object({ error: z.string() })

/** The origin of a URL, which may end with a slash or the API's base path. */
export function originOf(address: string): string {
  const url = address.replace(/\/+$/, '').replace(new RegExp(`${BASE}$`), '')
  if (/^https?:\/\//.test(url) && URL.canParse(url)) return url
  throw new UsageError('The URL of the service must look like https://api.example.com.')
}

/** Sends a request to a path under the API's base. Throws an error whose message is a sentence. */
export async function get(url: string, path: string, key?: string, query: Query = {}): Promise<JsonResponse> {
  const { text, ...response } = await getText(url, path, key, query)
  try {
    return { ...response, body: JSON.parse(text) }
  } catch {
    throw new Error(`${url} returned ${response.status} with a non-JSON body. Check API_URL and the route.`)
  }
}

/** Sends a request as {@link get} does, and returns the body as text. */
export async function getText(
  url: string,
  path: string,
  key?: string,
  query: Query = {},
): Promise<{ status: number; headers: Headers; text: string }> {
  const address = new URL(`${url}${BASE}${path}`)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) address.searchParams.set(name, value)
  }
  const response = await fetch(address, {
    headers: { 'User-Agent': 'export-api-smoke', ...(key !== undefined && { 'X-API-Key': key }) },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error) => {
    throw new Error(`Cannot reach ${address.origin}: ${reasonOf(error.cause ?? error)}.`)
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** Throws an error whose message is a sentence when the status is not the expected one. */
export function expectStatus({ status, body }: JsonResponse, expected: number): void {
  if (status === expected) return
  const parsed = ErrorBody.safeParse(body)
  throw new Error(`Expected ${expected}, got ${status}${parsed.success ? `: ${parsed.data.error}` : '.'}`)
}

/** The body, parsed. Throws an error whose message is a sentence when it does not match. */
export function expectBody<Shape extends z.core.$ZodType>(
  shape: Shape,
  { body }: JsonResponse,
): z.output<Shape> {
  const parsed = z.safeParse(shape, body)
  if (parsed.success) return parsed.data
  throw new Error(`The body is malformed: ${z.prettifyError(parsed.error)}`)
}
