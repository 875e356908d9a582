import { decodeBase64Url, encodeBase64Url } from 'hono/utils/encode'
import { equalBytes, hmac, MAC_BYTES, type Secrets } from '../request/hash.ts'
import type { RequestedWindow, Window } from '../statement/window.ts'

/** What a cursor looks like, as a regular expression without anchors (docs/specification.md, Cursors). */
export const CURSOR = '[A-Za-z][A-Za-z0-9_-]*'

/** The request that a cursor belongs to. It verifies with these values only. */
export type CursorBinding = RequestedWindow & {
  readonly endpoint: string
  /** Undefined for every brand of the key. */
  readonly brandId?: string | undefined
  readonly since?: string | undefined
}

/** What a cursor carries: the run's window, and the key of the last row that was sent. */
export type CursorPosition = {
  readonly window: Window
  /** The organization of a run without a brand, which is known only after the key was looked up; else null. */
  readonly organizationId: string | null
  readonly after: readonly string[]
}

// Some loaders evaluate a value that looks like a number, or follow one that looks like a path. A letter prevents both.
const PREFIX = 'c'

const bindingOf = ({ endpoint, brandId, fromDate, toDate, since }: CursorBinding): unknown[] => [
  endpoint,
  brandId,
  fromDate,
  toDate,
  since,
]

/** Returns a signed cursor. The same position always gives the same text, since the `ETag` of a page includes it. */
export function signCursor(
  { window: { first, last, end, startedAt }, organizationId, after }: CursorPosition,
  binding: CursorBinding,
  [secret]: Secrets,
): Promise<string> {
  return sign([organizationId, first, last, end, startedAt, ...after], bindingOf(binding), secret, PREFIX)
}

/** Returns a cursor's position; null when it was altered or belongs to another request. */
export async function verifyCursor(
  cursor: string,
  binding: CursorBinding,
  secrets: Secrets,
): Promise<CursorPosition | null> {
  const fields = await verify(cursor, bindingOf(binding), secrets, PREFIX)
  if (fields === null) return null
  const [organizationId = null, first = '', last = '', end = '', startedAt = null, ...after] = fields
  return { window: { first, last, end, startedAt }, organizationId, after }
}

/** Returns the text of some fields, which begins with a letter for their kind and has a signature. */
export async function sign(
  fields: readonly unknown[],
  binding: readonly unknown[],
  secret: string,
  prefix: string,
): Promise<string> {
  const payload = new TextEncoder().encode(JSON.stringify(fields))
  return encode(new Uint8Array([...(await signatureOf(payload, binding, secret)), ...payload]), prefix)
}

/** Returns the fields of a text of {@link sign}; null for another one. */
export async function verify(
  text: string,
  binding: readonly unknown[],
  secrets: readonly string[],
  prefix: string,
): Promise<string[] | null> {
  const bytes = decode(text, prefix)
  if (bytes === null || bytes.length <= MAC_BYTES) return null
  const payload = bytes.subarray(MAC_BYTES)
  for (const secret of secrets) {
    if (equalBytes(bytes.subarray(0, MAC_BYTES), await signatureOf(payload, binding, secret)))
      return JSON.parse(new TextDecoder().decode(payload))
  }
  return null
}

const signatureOf = (payload: Uint8Array, binding: readonly unknown[], secret: string) =>
  hmac(new Uint8Array([...new TextEncoder().encode(JSON.stringify(binding)), ...payload]), secret)

const encode = (bytes: Uint8Array, prefix: string): string =>
  prefix + encodeBase64Url(bytes.slice().buffer).replaceAll('=', '')

function decode(text: string, prefix: string): Uint8Array | null {
  if (!text.startsWith(prefix) || !/^[A-Za-z0-9_-]{2,}$/.test(text)) return null
  try {
    const bytes = decodeBase64Url(text.slice(prefix.length))
    // Base64 can spell some bytes in several ways; only the spelling that was sent is accepted.
    return encode(bytes, prefix) === text ? bytes : null
  } catch {
    return null
  }
}
