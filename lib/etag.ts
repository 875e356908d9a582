import { hex } from './api-key.ts'

/** A strong entity tag of a body: half of its SHA-256, quoted. */
export async function entityTag(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `"${hex(digest.subarray(0, 16))}"`
}

/**
 * Whether an `If-None-Match` header names a tag. Tags are compared weakly (RFC 9110, section 13.1.2): whoever compresses
 * a body on the way marks its tag as weak.
 */
export function holds(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  return ifNoneMatch.split(',').some((each) => each.trim().replace(/^W\//, '') === tag)
}
