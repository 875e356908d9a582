import { encodeBase64Url } from 'hono/utils/encode'
import { equalBytes, hmac, type Secrets } from '../request/hash.ts'

/** Path prefix of the share. */
export const SHARE_BASE = '/api/sharing/v1'

/** Returns the signature of a text. */
async function signatureOf(text: string, [secret]: Secrets): Promise<string> {
  const mac = await hmac(toBytes(text), secret)
  return encodeBase64Url(mac.slice().buffer).replaceAll('=', '')
}

/** Whether a signature is that of a text. */
async function isSignature(signature: string, text: string, secrets: Secrets): Promise<boolean> {
  for (const secret of secrets)
    if (equalBytes(toBytes(signature), toBytes(await signatureOf(text, [secret])))) return true
  return false
}

/** Returns what the URL of an object signs: its id and the second at which the URL expires. */
const textOf = (id: string, expires: string) => `object ${id} ${expires}`

type SignerOptions = {
  readonly origin: string
  readonly now: Date
  /** How long a URL works. */
  readonly seconds: number
  readonly secrets: Secrets
}

/** Returns a function that signs the URLs of objects, and the time at which they expire. */
export function urlSigner({ origin, now, seconds, secrets }: SignerOptions) {
  const expires = String(Math.floor(now.getTime() / 1000) + seconds)
  return {
    /** Milliseconds since 1970. */
    expirationTimestamp: Number(expires) * 1000,
    sign: async (id: string): Promise<string> => {
      const signature = await signatureOf(textOf(id, expires), secrets)
      return `${origin}${SHARE_BASE}/objects/${id}.parquet?expires=${expires}&signature=${signature}`
    },
  }
}

/** Whether the query of an object's URL has a valid signature that has not expired. */
export async function isSigned(
  id: string,
  query: URLSearchParams,
  { now, secrets }: { now: Date; secrets: Secrets },
): Promise<boolean> {
  const expires = query.get('expires') ?? ''
  if (!(Number(expires) * 1000 > now.getTime())) return false
  return isSignature(query.get('signature') ?? '', textOf(id, expires), secrets)
}

/** What a query named: the version, the first day that the key read, and the brands. */
export type Named = { readonly version: number; readonly first: string; readonly brands: readonly string[] }

const textOfToken = (named: string, table: string) => `refresh ${table} ${named}`

/** Returns a signed token of what a query of a table named. */
export async function signToken({ version, first, brands }: Named, table: string, secrets: Secrets) {
  const named = `${version}.${first}.${brands}`
  return `${named}.${await signatureOf(textOfToken(named, table), secrets)}`
}

/** Returns what the query named as values of its statement; null when the token was altered or is of another table. */
export async function verifyToken(token: string, table: string, secrets: Secrets) {
  const [version = '', first = '', brands = '', ...signature] = token.split('.')
  const text = textOfToken(`${version}.${first}.${brands}`, table)
  if (!(await isSignature(signature.join('.'), text, secrets))) return null
  return { version, token_first: first, token_brands: `{${brands}}` }
}

const toBytes = (text: string) => new TextEncoder().encode(text)
