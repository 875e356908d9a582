import { encodeBase64Url } from 'hono/utils/encode'
import { equalBytes, hmac, type Secrets } from '../hmac.ts'

/** Path prefix of the share. */
export const SHARE_BASE = '/api/sharing/v1'

/** Returns the signature of an object's id and of the second at which its URL expires. */
async function signatureOf(id: string, expires: string, secret: string): Promise<string> {
  const mac = await hmac(toBytes(`object ${id} ${expires}`), secret)
  return encodeBase64Url(mac.slice().buffer).replaceAll('=', '')
}

type SignerOptions = {
  readonly origin: string
  readonly now: Date
  /** How long a URL works. */
  readonly seconds: number
  readonly secrets: Secrets
}

/** Returns a function that signs the URLs of objects, and the time at which they expire. */
export function urlSigner({ origin, now, seconds, secrets: [secret] }: SignerOptions) {
  const expires = String(Math.floor(now.getTime() / 1000) + seconds)
  return {
    /** Milliseconds since 1970. */
    expirationTimestamp: Number(expires) * 1000,
    sign: async (id: string): Promise<string> => {
      const signature = await signatureOf(id, expires, secret)
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
  const given = toBytes(query.get('signature') ?? '')
  if (!(Number(expires) * 1000 > now.getTime())) return false
  for (const secret of secrets)
    if (equalBytes(given, toBytes(await signatureOf(id, expires, secret)))) return true
  return false
}

const toBytes = (text: string) => new TextEncoder().encode(text)
