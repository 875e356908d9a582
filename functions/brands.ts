import * as z from 'zod/mini'
import { brandRows } from '../drizzle/metrics/brands.ts'
import { brands } from '../lib/brands/brands.ts'
import { instant, nullable, text, uuid } from '../lib/rows/schema.ts'

export const Brand = z.object({
  id: uuid('Identifier of the brand. Use it as `brandId` on the other endpoints.'),
  name: text('Name of the brand.'),
  displayName: text('Name of the brand as the application shows it.'),
  url: text('Domain of the brand.'),
  siteUrl: text("URL of the brand's website."),
  industry: nullable(text('Industry of the brand. Null when it is not set.')),
  createdAt: instant('Time at which the brand was created.'),
})

export default brands({
  path: '/brands',
  summary: 'Brands',
  description:
    'Returns all active brands that the key can read. The response has no pages. Its fields are camelCase; those of the metrics are snake_case.',
  row: Brand,
  primaryKey: ['id'],
  rows: brandRows,
  order: ['name', 'id'],
})
