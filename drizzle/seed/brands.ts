import type { Client } from 'pg'
import { brueckentor } from './brands/brueckentor.ts'
import { haldenpeak } from './brands/haldenpeak.ts'
import { haldenpeakKids } from './brands/haldenpeak-kids.ts'
import { ledgerfin } from './brands/ledgerfin.ts'
import { lumisel } from './brands/lumisel.ts'
import { vellamora } from './brands/vellamora.ts'
import { demoId } from './ids.ts'
import { ORGANIZATIONS } from './organizations.ts'

/** The demo brands with the ids of their rows. */
export const BRANDS = [haldenpeak, vellamora, haldenpeakKids, brueckentor, lumisel, ledgerfin].map(
  (brand) => ({
    ...brand,
    id: demoId('brand', brand.slug),
    competitors: brand.competitors.map((competitor) => ({
      ...competitor,
      id: demoId('competitor', brand.slug, competitor.name),
      active: competitor.active ?? true,
    })),
    prompts: brand.prompts.map((prompt) => ({ ...prompt, id: demoId('prompt', brand.slug, prompt.text) })),
  }),
)

export type StoredBrand = (typeof BRANDS)[number]

/** Inserts the brands, their competitors and their prompts. */
export async function insertBrands(client: Client): Promise<void> {
  await client.query(
    `insert into brands (id, organization_id, name, display_name, url, site_url, industry, aliases, active, created_at)
     select id, organization_id, name, display_name, url, site_url, industry, aliases, active, '2026-02-03T10:15:00Z'
     from jsonb_to_recordset($1) as b(id uuid, organization_id uuid, name text, display_name text, url text,
       site_url text, industry text, aliases text[], active boolean)
     on conflict (id) do update set organization_id = excluded.organization_id, name = excluded.name,
       display_name = excluded.display_name, url = excluded.url, site_url = excluded.site_url,
       industry = excluded.industry, aliases = excluded.aliases, active = excluded.active,
       created_at = excluded.created_at`,
    [JSON.stringify(BRANDS.map(brandRow))],
  )
  await client.query(
    `insert into competitors (id, brand_id, name, aliases, active, created_at)
     select id, brand_id, name, aliases, active, '2026-02-03T10:20:00Z'
     from jsonb_to_recordset($1) as c(id uuid, brand_id uuid, name text, aliases text[], active boolean)`,
    [
      JSON.stringify(
        BRANDS.flatMap(({ id, competitors }) => competitors.map((row) => ({ ...row, brand_id: id }))),
      ),
    ],
  )
  await client.query(
    `insert into prompts (id, brand_id, text, branded, counts_in_metrics, retired_at)
     select id, brand_id, text, coalesce(branded, false), coalesce(counts, true), "retiredAt"
     from jsonb_to_recordset($1) as p(id uuid, brand_id uuid, text text, branded boolean, counts boolean,
       "retiredAt" timestamptz)
     on conflict (id) do update set brand_id = excluded.brand_id, text = excluded.text, branded = excluded.branded,
       counts_in_metrics = excluded.counts_in_metrics, retired_at = excluded.retired_at`,
    [JSON.stringify(BRANDS.flatMap(({ id, prompts }) => prompts.map((row) => ({ ...row, brand_id: id }))))],
  )
}

function brandRow(brand: StoredBrand) {
  return {
    id: brand.id,
    organization_id: ORGANIZATIONS[brand.organization].id,
    name: brand.name,
    display_name: brand.displayName,
    url: brand.domain,
    site_url: `https://www.${brand.domain}`,
    industry: brand.industry,
    aliases: brand.aliases,
    active: brand.active,
  }
}
