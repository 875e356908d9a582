import { sql } from 'drizzle-orm'
import { boolean, text, uuid } from 'drizzle-orm/pg-core'
import { textC } from '../text-c.ts'
import { metrics } from './schema.ts'

/** Brands under their wire names (docs/specification.md). */
export const brandListing = metrics
  .view('brand_listing', {
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
      to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"
    from export_source.brands
  `)
