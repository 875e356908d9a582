import { hasChecksum, KEY_PATTERN, sha256 } from '../lib/api-key.ts'

/** A key that stands in a text: never the key itself, but what it takes to find it in `api_keys`. */
export type FoundKey = {
  readonly line: number
  readonly lastFour: string
  /** Whether its checksum is right, as in every key that was minted with one. */
  readonly checksum: boolean
  readonly sha256: string
}

/** Finds every key in lines of text, in order. */
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

/** A finding as a line for people. */
export function describeFound({ line, lastFour, checksum, sha256: hash }: FoundKey): string {
  const kind = checksum ? 'real: its checksum is right' : 'no checksum: an old key, or none'
  return `line ${line}  svc_live_…${lastFour}  ${kind}  SHA-256 ${hash}`
}
