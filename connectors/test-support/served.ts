import type { Stream } from '../../site/reference/streams.ts'
import { call, pull, type Row } from '../../test/fixtures/call.ts'

type Asked = {
  readonly service?: string
  readonly key: string
  readonly brandIds: readonly string[]
  readonly query?: Readonly<Record<string, string>>
}

/** Returns the rows of the pages of an endpoint. Those of a brand have its `brand_id` first. */
export async function served(
  { endpoint, kind }: Stream,
  { brandIds, query, ...access }: Asked,
): Promise<readonly Row[]> {
  if (kind === 'brands') return (await call(`/${endpoint}`, access)).data
  const rowsOf = async (brandId: string) =>
    (await pull(`/${endpoint}`, { ...access, query: { brandId, ...query } })).map((row) => ({
      brand_id: brandId,
      ...row,
    }))
  return (await Promise.all(brandIds.map(rowsOf))).flat()
}
