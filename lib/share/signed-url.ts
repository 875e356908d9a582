import { decodeBase64Url, encodeBase64Url } from 'hono/utils/encode'
import { equalBytes, hmac, type Secrets } from '../hmac.ts'

/** Path prefix of the share. */
export const SHARE_BASE = '/api/sharing/v1'

/** How long the URL of a file works. */
export const URL_SECONDS = 900

const messageOf = (id: string, expires: string) => new TextEncoder().encode(`file ${id} ${expires}`)

/** Returns a function that signs the URLs of files for {@link URL_SECONDS}. */
export function urlSigner(origin: string, now: Date, [secret]: Secrets) {
  const expires = String(Math.floor(now.getTime() / 1000) + URL_SECONDS)
  return {
    /** Milliseconds since 1970. */
    expiration: Number(expires) * 1000,
    sign: async (id: string): Promise<string> => {
      const mac = await hmac(messageOf(id, expires), secret)
      const signature = encodeBase64Url(mac.slice().buffer).replaceAll('=', '')
      return `${origin}${SHARE_BASE}/files/${id}.parquet?expires=${expires}&signature=${signature}`
    },
  }
}

/** Whether the query of a file's URL has a valid signature that has not expired. */
export async function isSigned(
  id: string,
  query: URLSearchParams,
  { now, secrets }: { now: Date; secrets: Secrets },
): Promise<boolean> {
  const expires = query.get('expires') ?? ''
  const signature = query.get('signature') ?? ''
  if (!/^\d{1,15}$/.test(expires) || !/^[\w-]{22}$/.test(signature)) return false
  if (Number(expires) * 1000 <= now.getTime()) return false
  const given = decodeBase64Url(signature)
  for (const secret of secrets) if (equalBytes(given, await hmac(messageOf(id, expires), secret))) return true
  return false
}
