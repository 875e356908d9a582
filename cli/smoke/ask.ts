import * as z from 'zod/mini'
import { reasonOf } from '../../drizzle/db/connect.ts'
import { BASE } from '../../lib/app.ts'

/** Milliseconds after which an answer counts as none. */
const PATIENCE_MS = 30_000

/** A service, and the key to read it with. */
export type Service = { readonly url: string; readonly key?: string | undefined }

export type Question = {
  /** Path below the API's base. */
  readonly path: string
  readonly key?: string | undefined
  readonly query?: Readonly<Record<string, string | undefined>>
}

/** An answer of the service, its body as JSON. */
export type Heard = {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

const Refused = z.object({ error: z.string() })

/** Asks a service; throws a sentence when there is no answer, or one that no Worker of it gives. */
export async function ask({ url }: Service, { path, key, query = {} }: Question): Promise<Heard> {
  const address = new URL(`${url}${BASE}${path}`)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) address.searchParams.set(name, value)
  }
  const response = await fetch(address, {
    headers: { 'User-Agent': 'export-api-smoke', ...(key !== undefined && { 'X-API-Key': key }) },
    signal: AbortSignal.timeout(PATIENCE_MS),
  }).catch((error) => {
    throw new Error(`${address.origin} cannot be reached: ${reasonOf(error.cause ?? error)}.`)
  })
  const text = await response.text()
  try {
    return { status: response.status, headers: response.headers, body: JSON.parse(text) }
  } catch {
    throw new Error(`${address.origin} answered ${response.status} and no JSON: this is not the service.`)
  }
}

/** Throws, in a sentence, when an answer has another status than it should. */
export function demandStatus({ status, body }: Heard, expected: number): void {
  if (status === expected) return
  const refused = Refused.safeParse(body)
  const said = refused.success ? `: ${refused.data.error}` : '.'
  throw new Error(`It answered ${status} instead of ${expected}${said}`)
}
