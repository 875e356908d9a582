import { createGunzip } from 'node:zlib'
import type { Dispatcher } from 'undici'
import type { FileFormat } from '../../lib/file/format.ts'
import type { HttpRequest } from './http.ts'

/** How rows of a year are requested: the first page's path, and the headers of every request. */
export type Year = Required<HttpRequest> & { readonly client: Dispatcher }

/** Requests page after page, each by the link in the one before. */
export async function pull({ client, path, headers }: Year, use?: (body: Buffer) => void): Promise<void> {
  for (let next: string | undefined = path; next !== undefined; ) {
    const response: Dispatcher.ResponseData = await client.request({ path: next, method: 'GET', headers })
    const body = Buffer.from(await response.body.arrayBuffer())
    if (response.statusCode !== 200) throw new Error(`${next} returned ${response.statusCode}`)
    use?.(body)
    const link = /<(.+?)>/.exec(String(response.headers.link))?.[1]
    next = link?.slice(new URL(link).origin.length)
  }
}

export const ENCODINGS = ['identity', 'gzip'] as const

type Download = { readonly format: FileFormat; readonly encoding?: (typeof ENCODINGS)[number] }

/** Receives the rows as a file. `use` gets its bytes without their compression. */
export async function download(
  { client, path, headers }: Year,
  { format, encoding = 'identity' }: Download,
  use?: (bytes: Buffer) => void,
): Promise<void> {
  const response = await client.request({
    path: `${path}&format=${format}`,
    method: 'GET',
    headers: { ...headers, 'Accept-Encoding': encoding },
  })
  if (response.statusCode !== 200) throw new Error(`${path} returned ${response.statusCode}`)
  const isCompressed = response.headers['content-encoding'] === 'gzip'
  if (isCompressed !== (encoding === 'gzip')) throw new Error('The file has another encoding')
  const bytes = isCompressed && use ? response.body.pipe(createGunzip()) : response.body
  for await (const chunk of bytes) use?.(chunk)
}
