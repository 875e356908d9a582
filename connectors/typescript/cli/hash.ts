import { createHash } from 'node:crypto'
import type { AsyncBuffer } from 'hyparquet'

/** Returns the SHA-256 of a text or of bytes, in hexadecimal digits. */
export const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex')

const CHUNK = 4_000_000

/** Returns the SHA-256 of a file, in hexadecimal digits. */
export async function sha256OfFile(file: AsyncBuffer): Promise<string> {
  const hash = createHash('sha256')
  for (let start = 0; start < file.byteLength; start += CHUNK)
    hash.update(new Uint8Array(await file.slice(start, Math.min(start + CHUNK, file.byteLength))))
  return hash.digest('hex')
}
