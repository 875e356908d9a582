import type { ClientBase } from 'pg'
import { addDays } from '../../connectors/typescript/cli/days.ts'
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
    await listDays(client, { brandId, days: daysOf(FIRST_DAY, LAST_DAY) })
    return withService({ databaseUrl, redisUrl }, (service) =>
      work({ ...service, client, key, brandId, year: yearOf(service.pool, { key, brandId }) }),
    )
  })

function daysOf(first: string, last: string): string[] {
  const days: string[] = []
  for (let day = first; day <= last; day = addDays(day, 1)) days.push(day)
  return days
}

type Days = { readonly brandId: string; readonly days: readonly string[] }

/** Lists days of a brand's rows as refreshes do. A file takes the number of its rows from there. */
export const listDays = (client: ClientBase, { brandId, days }: Days) =>
  client.query(
    `select daily.list_changes(array_agg('citation_share'::text), array_agg($1::uuid), array_agg(day))
     from unnest($2::date[]) as day`,
    [brandId, days],
  )

/** Changes the rows of days, and lists them as a refresh does. */
export async function changeDays(
  { client, brandId }: Pick<BrandYear, 'client' | 'brandId'>,
  days: readonly string[],
): Promise<void> {
  await client.query(
    'update daily.citation_share set citations = citations + 1 where brand_id = $1 and date = any ($2)',
    [brandId, days],
  )
  await listDays(client, { brandId, days })
}
