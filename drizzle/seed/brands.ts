import type { Client } from 'pg'
import { brueckentor } from './brands/brueckentor.ts'
import { haldenpeak } from './brands/haldenpeak.ts'
import { haldenpeakKids } from './brands/haldenpeak-kids.ts'
import { ledgerfin } from './brands/ledgerfin.ts'
import { vellamora } from './brands/vellamora.ts'
import { demoId } from './ids.ts'
import { insertRows } from './insert-rows.ts'
import { ORGANIZATIONS } from './organizations.ts'

/** The demo brands with the ids of their rows. */
export const BRANDS = [haldenpeak, vellamora, haldenpeakKids, brueckentor, ledgerfin].map((brand) => ({
  ...brand,
  id: demoId('brand', brand.slug),
  competitors: brand.competitors.map((competitor) => ({
    ...competitor,
    id: demoId('competitor', brand.slug, competitor.name),
    active: competitor.active ?? true,
  })),
  prompts: brand.prompts.map((prompt) => ({ ...prompt, id: demoId('prompt', brand.slug, prompt.text) })),
}))

export type StoredBrand = (typeof BRANDS)[number]

/** Inserts the brands, their competitors and their prompts. */
export async function insertBrands(client: Client): Promise<void> {
  await insertRows(client, 'brands', BRANDS.map(brandRow))
  const competitors = BRANDS.flatMap((brand) =>
    brand.competitors.map(({ id, name, aliases, active }) => ({
      id,
      brand_id: brand.id,
      name,
      aliases,
      active,
      created_at: '2026-02-03T10:20:00Z',
    })),
  )
  await insertRows(client, 'competitors', competitors)
  const prompts = BRANDS.flatMap((brand) =>
    brand.prompts.map(({ id, text, branded = false, counts = true, retiredAt = null }) => ({
      id,
      brand_id: brand.id,
      text,
      branded,
      counts_in_metrics: counts,
      retired_at: retiredAt,
    })),
  )
  await insertRows(client, 'prompts', prompts)
}

function brandRow({ id, organization, name, displayName, domain, industry, aliases, active }: StoredBrand) {
  return {
    id,
    organization_id: ORGANIZATIONS[organization].id,
    name,
    display_name: displayName,
    url: domain,
    site_url: `https://www.${domain}`,
    industry,
    aliases,
    active,
    created_at: '2026-02-03T10:15:00Z',
  }
}
