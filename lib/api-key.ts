/** What a key looks like, wherever it is found: the pattern that scanners are given. */
export const KEY_PATTERN = 'svc_live_[0-9a-f]{64}'

const FORM = new RegExp(`^${KEY_PATTERN}$`)

/** Bytes that are random: 56 of a key's 64 digits. The last 8 are a checksum. */
const RANDOM_BYTES = 28

/** Whether text has the form of an export key (specification, section 5). Keys without a checksum have it too. */
export const isApiKey = (text: string): boolean => FORM.test(text)

/** A new random key, its checksum included; whoever mints it shows it once and stores its hash. */
export function mintApiKey(): string {
  const key = `svc_live_${hex(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)))}`
  return key + checksum(key)
}

/** Whether a key ends in the checksum of what precedes it, as each one does that was minted here: a scanner's question, not a gate's. */
export const hasChecksum = (key: string): boolean =>
  isApiKey(key) && key.slice(-8) === checksum(key.slice(0, -8))

/** CRC-32 (as in zlib) of a text, 8 lowercase hexadecimal digits. */
function checksum(text: string): string {
  let crc = ~0
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return (~crc >>> 0).toString(16).padStart(8, '0')
}

/** SHA-256 of a text in lowercase hex: the form in which secrets leave this process. */
export const sha256 = async (text: string): Promise<string> => hex(await sha256Bytes(text))

/** SHA-256 of a text, 32 bytes. */
export async function sha256Bytes(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Bytes in lowercase hex. */
export function hex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += HEX[byte]
  return text
}
