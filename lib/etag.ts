import { hex } from './hash.ts'

/** A body's bytes and their strong ETag. */
type Encoded = { readonly bytes: ReturnType<TextEncoder['encode']>; readonly etag: string }

/** Encodes a body as UTF-8 and computes its ETag: half of its SHA-256 in hex, quoted. */
export async function encodeWithEtag(body: string): Promise<Encoded> {
  const bytes = new TextEncoder().encode(body)
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return { bytes, etag: `"${hex(digest.subarray(0, 16))}"` }
}

/** Whether an `If-None-Match` header holds an ETag. Compares weakly (RFC 9110): proxies that compress mark it as weak. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  return ifNoneMatch.split(',').some((each) => each.trim().replace(/^W\//, '') === etag)
}
