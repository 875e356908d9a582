import { sql } from 'drizzle-orm'
import { boolean, text, uuid } from 'drizzle-orm/pg-core'
import { metrics, textC } from './schema.ts'

/**
 * Brands under their wire names (docs/specification.md). An application's table may hold `infinity` or a year that no
 * client can parse: the nearest time from year 1 to 9999 stands for it.
 */
export const brandRows = metrics
  .view('brands', {
    id: uuid().notNull(),
    organization_id: uuid().notNull(),
    active: boolean().notNull(),
    name: textC().notNull(),
    displayName: text().notNull(),
    url: text().notNull(),
    siteUrl: text().notNull(),
    industry: text(),
    createdAt: text().notNull(),
  })
  .as(sql`
    select
      id,
      organization_id,
      active,
      name collate "C" as name,
      display_name as "displayName",
      url,
      site_url as "siteUrl",
      industry,
      to_char(
        least(greatest(created_at, '0001-01-01T00:00:00Z'), '9999-12-31T23:59:59.999Z') at time zone 'UTC',
        'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
      ) as "createdAt"
    from export_source.brands
  `)
