import { hasChecksum, KEY_PATTERN } from '../lib/request/api-key.ts'
import { sha256 } from '../lib/request/hash.ts'

/** A key found in a text: not the key itself, but enough to find its row in `api_keys`. */
export type FoundKey = {
  readonly line: number
  readonly lastFour: string
  /** Whether the checksum is valid, as in every key that this service creates. */
  readonly checksum: boolean
  readonly sha256: string
}

/** Finds the keys in lines of text. */
export async function findKeys(lines: AsyncIterable<string>): Promise<FoundKey[]> {
  const pattern = new RegExp(`\\b${KEY_PATTERN}\\b`, 'g')
  const found: FoundKey[] = []
  let line = 0
  for await (const text of lines) {
    line += 1
    for (const [key] of text.matchAll(pattern)) {
      found.push({ line, lastFour: key.slice(-4), checksum: hasChecksum(key), sha256: await sha256(key) })
    }
  }
  return found
}

/** A finding as a line of text. */
export function describeFound({ line, lastFour, checksum, sha256: hash }: FoundKey): string {
  const kind = checksum ? 'valid checksum' : 'no valid checksum'
  return `line ${line}  svc_live_…${lastFour}  ${kind}  SHA-256 ${hash}`
}
