import { hex } from './hash.ts'

/** The pattern of a key, for secret scanners. */
export const KEY_PATTERN = 'svc_live_[0-9a-f]{64}'

const FIELD = new RegExp(`^[ \\t]*(${KEY_PATTERN})[ \\t]*$`)

/** Random bytes of a key: 56 of its 64 hexadecimal digits. The last 8 digits are a checksum. */
const RANDOM_BYTES = 28

/**
 * Returns the key in the value of a header, without the spaces and tabs around it (RFC 9110); null when it does not have
 * the form of an export key. Does not check the checksum: older keys have none.
 */
export const readApiKey = (field: string): string | null => FIELD.exec(field)?.[1] ?? null

/** Returns the key of an `Authorization` header with the scheme `Bearer`, as {@link readApiKey}. */
export const readBearerKey = (authorization: string): string | null =>
  readApiKey(/^Bearer +(.*)$/i.exec(authorization)?.[1] ?? '')

/** Returns a new random key with its checksum. Show it once and store its hash only. */
export function mintApiKey(): string {
  const key = `svc_live_${hex(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)))}`
  return key + checksum(key)
}

/** Whether a key ends with its checksum. For scanners only: requests are not checked for it. */
export const hasChecksum = (key: string): boolean =>
  readApiKey(key) === key && key.slice(-8) === checksum(key.slice(0, -8))

/** Returns the CRC-32 (as in zlib) of a text, 8 lowercase hex digits. */
function checksum(text: string): string {
  let crc = ~0
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return (~crc >>> 0).toString(16).padStart(8, '0')
}
