import type { Env } from './env.ts'

/** Returns the SHA-256 of a text in lowercase hex. */
export const sha256 = async (text: string): Promise<string> => hex(await sha256Bytes(text))

/** Returns the SHA-256 of a text, 32 bytes. */
export async function sha256Bytes(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Returns bytes as lowercase hex. */
export function hex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += HEX[byte]
  return text
}

/** The secret that signs, and previous ones whose signatures are still accepted. */
export type Secrets = readonly [current: string, ...previous: string[]]

/** Bytes of a signature. */
export const MAC_BYTES = 16

/** Returns the secrets of a Worker. */
export const secretsOf = ({ CURSOR_SECRET, CURSOR_SECRET_PREVIOUS }: Env): Secrets =>
  CURSOR_SECRET_PREVIOUS === undefined ? [CURSOR_SECRET] : [CURSOR_SECRET, CURSOR_SECRET_PREVIOUS]

/** Returns the first half of the HMAC-SHA-256 of a message. */
export async function hmac(message: BufferSource, secret: string): Promise<Uint8Array> {
  const mac = await crypto.subtle.sign('HMAC', await signingKey(secret), message)
  return new Uint8Array(mac).subarray(0, MAC_BYTES)
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

/** Compares two signatures in constant time. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  let difference = left.length ^ right.length
  for (const [index, byte] of left.entries()) difference |= byte ^ (right[index] ?? 0)
  return difference === 0
}
