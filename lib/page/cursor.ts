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

/** What {@link signCursor} signs. */
type Payload = [
  organizationId: string | null,
  first: string,
  last: string,
  end: string,
  startedAt: string | null,
  ...after: string[],
]

// Some loaders evaluate a value that looks like a number, or follow one that looks like a path. A letter prevents both.
const PREFIX = 'c'

/** Returns a signed cursor. The same position always gives the same text, since the `ETag` of a page includes it. */
export async function signCursor(
  { window, organizationId, after }: CursorPosition,
  binding: CursorBinding,
  [secret]: Secrets,
): Promise<string> {
  const { first, last, end, startedAt } = window
  const fields: Payload = [organizationId, first, last, end, startedAt, ...after]
  const payload = new TextEncoder().encode(JSON.stringify(fields))
  const mac = await sign(payload, binding, secret)
  const bytes = new Uint8Array(MAC_BYTES + payload.length)
  bytes.set(mac)
  bytes.set(payload, MAC_BYTES)
  return encodeCursor(bytes, PREFIX)
}

/** Returns a cursor's position; null when it was altered or belongs to another request. */
export async function verifyCursor(
  cursor: string,
  binding: CursorBinding,
  secrets: Secrets,
): Promise<CursorPosition | null> {
  const bytes = decodeCursor(cursor, PREFIX)
  if (bytes === null || bytes.length <= MAC_BYTES) return null
  const payload = bytes.subarray(MAC_BYTES)
  for (const secret of secrets) {
    if (equalBytes(bytes.subarray(0, MAC_BYTES), await sign(payload, binding, secret))) return read(payload)
  }
  return null
}

async function sign(payload: Uint8Array, binding: CursorBinding, secret: string): Promise<Uint8Array> {
  const { endpoint, brandId, fromDate, toDate, since } = binding
  const bound = new TextEncoder().encode(JSON.stringify([endpoint, brandId, fromDate, toDate, since]))
  const message = new Uint8Array(bound.length + payload.length)
  message.set(bound)
  message.set(payload, bound.length)
  return hmac(message, secret)
}

function read(payload: Uint8Array): CursorPosition {
  const fields: Payload = JSON.parse(new TextDecoder().decode(payload))
  const [organizationId, first, last, end, startedAt, ...after] = fields
  return { window: { first, last, end, startedAt }, organizationId, after }
}

/** Returns bytes as the text of a cursor, which begins with a letter for its kind. */
export const encodeCursor = (bytes: Uint8Array, prefix: string): string =>
  prefix + encodeBase64Url(bytes.slice().buffer).replaceAll('=', '')

/** Returns the bytes of a cursor; null for another text. */
export function decodeCursor(cursor: string, prefix: string): Uint8Array | null {
  if (!cursor.startsWith(prefix) || !/^[A-Za-z0-9_-]{2,}$/.test(cursor)) return null
  try {
    const bytes = decodeBase64Url(cursor.slice(prefix.length))
    // Base64 can spell some bytes in several ways; only the spelling that was sent is accepted.
    return encodeCursor(bytes, prefix) === cursor ? bytes : null
  } catch {
    return null
  }
}
