import * as z from 'zod/mini'
import { brandListing } from '../drizzle/views/brand-listing.ts'
import { listing } from '../lib/listing.ts'
import { instant, nullable, text, uuid } from '../lib/schemas.ts'

export const Brand = z.object({
  id: uuid('Identifier of the brand: the `brandId` of every other endpoint.'),
  name: text('Name of the brand.'),
  displayName: text('Name of the brand as it is shown.'),
  url: text('Domain of the brand.'),
  siteUrl: text("Address of the brand's site."),
  industry: nullable(text('Industry of the brand; null when none is set.')),
  createdAt: instant('When the brand was set up.'),
})

export default listing({
  path: '/brands',
  summary: 'Brands that the key can read',
  description: 'Every active brand that the key can read, in one response and without pages. Start here.',
  row: Brand,
  rows: brandListing,
  order: ['name', 'id'],
})
