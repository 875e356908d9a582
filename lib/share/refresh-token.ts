import type { Secrets } from '../request/hash.ts'
import { isSignature, signatureOf } from './signed-url.ts'

/** What a query named: the version, the first day that the key read, and the brands. */
export type Named = { readonly version: number; readonly first: string; readonly brands: readonly string[] }

const textOf = (named: string, table: string) => `refresh ${table} ${named}`

/** Returns a signed token of what a query of a table named. */
export async function signToken({ version, first, brands }: Named, table: string, secrets: Secrets) {
  const named = `${version}.${first}.${brands}`
  return `${named}.${await signatureOf(textOf(named, table), secrets)}`
}

/** Returns what the query named as values of its statement; null when the token was altered or is of another table. */
export async function verifyToken(token: string, table: string, secrets: Secrets) {
  const [version = '', first = '', brands = '', ...signature] = token.split('.')
  const text = textOf(`${version}.${first}.${brands}`, table)
  if (!(await isSignature(signature.join('.'), text, secrets))) return null
  return { version, token_first: first, token_brands: `{${brands}}` }
}
