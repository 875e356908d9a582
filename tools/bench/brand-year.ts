import type { ClientBase } from 'pg'
import { inDatabase } from './database.ts'
import { FIRST_DAY, fillMillion } from './million.ts'
import type { Setting } from './section.ts'
import { type Service, withService } from './service.ts'
import { addTenant } from './tenant.ts'
import { LAST_DAY } from './volume.ts'
import { type Year, yearOf } from './year.ts'

/** All Workers, over a million daily rows of which one brand has almost half. */
export type BrandYear = Service & {
  readonly client: ClientBase
  readonly key: string
  readonly brandId: string
  readonly year: Year
}

/** Starts the service over a year of a brand's rows. */
export const withBrandYear = <Result>(
  { serverUrl, sized, report }: Setting,
  work: (year: BrandYear) => Promise<Result>,
  redisUrl?: string,
): Promise<Result> =>
  inDatabase(serverUrl, async (client, databaseUrl) => {
    report('a million daily rows')
    const { organizationId, key } = await addTenant(client)
    const brandId = await fillMillion(client, organizationId, sized)
    await listDays(client, { brandId, first: FIRST_DAY, last: LAST_DAY })
    return withService({ databaseUrl, redisUrl }, (service) =>
      work({ ...service, client, key, brandId, year: yearOf(service.pool, { key, brandId }) }),
    )
  })

type Days = { readonly brandId: string; readonly first: string; readonly last: string }

/** Lists days of a brand's rows as refreshes do. A file takes the number of its rows from there. */
export const listDays = (client: ClientBase, { brandId, first, last }: Days) =>
  client.query(
    `select daily.list_changes(array_agg('citation_share'::text), array_agg($1::uuid), array_agg(day::date))
     from generate_series($2::date, $3::date, interval '1 day') as day`,
    [brandId, first, last],
  )
