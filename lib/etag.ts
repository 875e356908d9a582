import { hex } from './api-key.ts'

/** A body as it travels, and its strong entity tag: half of its SHA-256, quoted. */
export type Entity = { readonly bytes: Uint8Array<ArrayBuffer>; readonly tag: string }

/** Encodes a body and tags it. */
export async function encodeWithEtag(body: string): Promise<Entity> {
  const bytes = new TextEncoder().encode(body)
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return { bytes, tag: `"${hex(digest.subarray(0, 16))}"` }
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
