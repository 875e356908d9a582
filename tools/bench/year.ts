import { randomUUID } from 'node:crypto'
import type { Dispatcher } from 'undici'
import { BASE } from '../../lib/app.ts'
import type { FileFormat } from '../../lib/file/format.ts'
import { FIRST_DAY } from './million.ts'
import { LAST_DAY } from './volume.ts'

/** How a brand's rows of a year are requested: the first page's path, and the headers of every request. */
export type Year = {
  readonly client: Dispatcher
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

export const yearOf = (
  client: Dispatcher,
  { brandId, key }: { readonly brandId: string; readonly key: string },
): Year => ({
  client,
  path: `${BASE}/citation-share?brandId=${brandId}&fromDate=${FIRST_DAY}&toDate=${LAST_DAY}`,
  headers: { 'X-API-Key': key, 'User-Agent': randomUUID() },
})

/** Requests one page. Returns the path of the next one, which its `Link` header has. Throws on any status but 200. */
export async function requestPage({ client, path, headers }: Year): Promise<string | undefined> {
  const response = await client.request({ path, method: 'GET', headers })
  const body = await response.body.text()
  if (response.statusCode !== 200) throw new Error(`${path} returned ${response.statusCode}: ${body}`)
  const link = /<(.+?)>/.exec(String(response.headers.link))?.[1]
  return link?.slice(new URL(link).origin.length)
}

/** Requests page after page. Yields the path of each. */
export async function* pages(year: Year): AsyncGenerator<string> {
  for (let path: string | undefined = year.path; path !== undefined; ) {
    const next = await requestPage({ ...year, path })
    yield path
    path = next
  }
}

export const ENCODINGS = ['identity', 'gzip'] as const

type Download = { readonly format: FileFormat; readonly encoding?: (typeof ENCODINGS)[number] }

/** Receives the rows as a file. */
export async function download(
  { client, path, headers }: Year,
  { format, encoding = 'identity' }: Download,
): Promise<void> {
  const response = await client.request({
    path: `${path}&format=${format}`,
    method: 'GET',
    headers: { ...headers, 'Accept-Encoding': encoding },
  })
  if (response.statusCode !== 200) throw new Error(`${path} returned ${response.statusCode}`)
  for await (const _ of response.body);
}
