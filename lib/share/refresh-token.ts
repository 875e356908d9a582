import { decodeBase64Url, encodeBase64Url } from 'hono/utils/encode'
import type { Secrets } from '../hmac.ts'
import { isSignature, signatureOf } from './signed-url.ts'

/** What a query named: its version, and the first day and the brands that the key read. */
export type Named = { readonly version: string; readonly first: string; readonly brands: readonly string[] }

const BRAND_DIGITS = /[0-9a-f]{32}/g

/** Returns a signed token of what a query of a table named. */
export async function signToken({ version, first, brands }: Named, table: string, secrets: Secrets) {
  const digits = brands.join('').replaceAll('-', '')
  const bytes = Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  const named = `${version}.${first}.${encodeBase64Url(bytes.buffer).replaceAll('=', '')}`
  return `${named}.${await signatureOf(textOf(named, table), secrets)}`
}

/** Returns what the query named; null when the token was altered or is of another table. */
export async function verifyToken(token: string, table: string, secrets: Secrets): Promise<Named | null> {
  const named = token.slice(0, token.lastIndexOf('.'))
  const signature = token.slice(named.length + 1)
  if (!(await isSignature(signature, textOf(named, table), secrets))) return null
  const [version = '', first = '', brands = ''] = named.split('.')
  const digits = Array.from(decodeBase64Url(brands), (byte) => byte.toString(16).padStart(2, '0')).join('')
  return { version, first, brands: digits.match(BRAND_DIGITS) ?? [] }
}

const textOf = (named: string, table: string) => `refresh ${table} ${named}`
