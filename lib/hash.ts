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
