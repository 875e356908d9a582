import { decodeBase64Url, encodeBase64Url } from 'hono/utils/encode'
import type { Plan } from './access/plans.ts'
import type { PinnedWindow, RequestedWindow } from './window.ts'

/** What a cursor looks like, as a regular expression without anchors (docs/specification.md, Cursors). */
export const CURSOR = '[A-Za-z][A-Za-z0-9_-]*'

/** The request that a cursor belongs to. It verifies with these values only. */
export type CursorBinding = RequestedWindow & {
  readonly endpoint: string
  /** Undefined for every brand of the key. */
  readonly brandId?: string | undefined
  readonly since?: string | undefined
}

/** What a cursor carries: the run's window with its plan, and the key of the last row that was sent. */
export type CursorPosition = PinnedWindow & { readonly after: readonly string[] }

/** What {@link signCursor} signs. */
type Payload = [plan: Plan, first: string, last: string, end: string, ...after: string[]]

/** The secret that signs cursors, and previous ones whose cursors are still accepted. */
export type CursorSecrets = readonly [current: string, ...previous: string[]]

const MAC_BYTES = 16
// Some loaders evaluate a value that looks like a number, or follow one that looks like a path. A letter prevents both.
const PREFIX = 'c'

/** Returns a signed cursor. The same position always gives the same text (docs/specification.md, Cursors). */
export async function signCursor(
  { window, plan, after }: CursorPosition,
  binding: CursorBinding,
  [secret]: CursorSecrets,
): Promise<string> {
  const fields: Payload = [plan, window.first, window.last, window.end, ...after]
  const payload = new TextEncoder().encode(JSON.stringify(fields))
  const mac = await sign(payload, binding, secret)
  const bytes = new Uint8Array(MAC_BYTES + payload.length)
  bytes.set(mac)
  bytes.set(payload, MAC_BYTES)
  return encode(bytes)
}

/** Returns a cursor's position; null when it was altered or belongs to another request. */
export async function verifyCursor(
  cursor: string,
  binding: CursorBinding,
  secrets: CursorSecrets,
): Promise<CursorPosition | null> {
  const bytes = decode(cursor)
  if (bytes === null || bytes.length <= MAC_BYTES) return null
  const payload = bytes.subarray(MAC_BYTES)
  for (const secret of secrets) {
    if (equal(bytes.subarray(0, MAC_BYTES), await sign(payload, binding, secret))) return read(payload)
  }
  return null
}

async function sign(payload: Uint8Array, binding: CursorBinding, secret: string): Promise<Uint8Array> {
  const { endpoint, brandId, fromDate, toDate, since } = binding
  const bound = new TextEncoder().encode(JSON.stringify([endpoint, brandId, fromDate, toDate, since]))
  const message = new Uint8Array(bound.length + payload.length)
  message.set(bound)
  message.set(payload, bound.length)
  return new Uint8Array(await crypto.subtle.sign('HMAC', await signingKey(secret), message)).subarray(
    0,
    MAC_BYTES,
  )
}

const signingKeys = new Map<string, CryptoKey>()

/** Imports a secret's key once per isolate. Stores the key and not its promise: a request must not wait for another's. */
async function signingKey(secret: string): Promise<CryptoKey> {
  const found = signingKeys.get(secret)
  if (found !== undefined) return found
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, [
    'sign',
  ])
  signingKeys.set(secret, key)
  return key
}

/** Compares two codes in constant time. */
function equal(left: Uint8Array, right: Uint8Array): boolean {
  let difference = left.length ^ right.length
  for (const [index, byte] of left.entries()) difference |= byte ^ (right[index] ?? 0)
  return difference === 0
}

function read(payload: Uint8Array): CursorPosition {
  const [plan, first, last, end, ...after]: Payload = JSON.parse(new TextDecoder().decode(payload))
  return { window: { first, last, end }, plan, after }
}

const encode = (bytes: Uint8Array): string =>
  PREFIX + encodeBase64Url(bytes.slice().buffer).replaceAll('=', '')

function decode(cursor: string): Uint8Array | null {
  if (!/^c[A-Za-z0-9_-]+$/.test(cursor)) return null
  try {
    const bytes = decodeBase64Url(cursor.slice(PREFIX.length))
    // Base64 can spell some bytes in several ways; only the spelling that was sent is accepted.
    return encode(bytes) === cursor ? bytes : null
  } catch {
    return null
  }
}
