import type { Plan } from '../tables/application.ts'
import { demoId } from './ids.ts'

const organization = (slug: string, name: string, plan: Plan) => ({
  id: demoId('organization', slug),
  name,
  plan,
  owner: { id: demoId('user', slug), email: `owner@${slug}.example` },
})

/** One organization per plan, each with an owner. The lite plan has no API access. */
export const ORGANIZATIONS = {
  enterprise: organization('northgate', 'Northgate Brands', 'enterprise'),
  agency: organization('plume', 'Plume & Partners', 'agency'),
  pro: organization('ledgerfin', 'Ledgerfin', 'pro'),
  lite: organization('saffron', 'Saffron Lane', 'lite'),
} satisfies Record<Plan, object>

const { enterprise, agency, pro, lite } = ORGANIZATIONS

/** The brand for a first request. */
export const FIRST_BRAND = demoId('brand', 'haldenpeak')

/** A key for each plan and state. Keys are recognizable: `de30` repeated, then a number. */
export const KEYS = [
  { label: 'enterprise', note: 'reads two brands, full history', organization: enterprise },
  { label: 'agency', note: 'reads one brand, last 180 days', organization: agency },
  { label: 'pro', note: 'reads one brand, last 90 days', organization: pro },
  { label: 'brand-limited', note: 'reads Haldenpeak only', organization: enterprise, brands: [FIRST_BRAND] },
  { label: 'revoked', note: 'returns 401', organization: enterprise, revoked: '2026-06-30T16:00:00Z' },
  { label: 'expired', note: 'returns 401', organization: enterprise, expires: '2026-06-30T00:00:00Z' },
  { label: 'lite', note: 'returns 403', organization: lite },
].map((key, index) => ({
  ...key,
  key: `svc_live_${'de30'.repeat(15)}${String(index + 1).padStart(4, '0')}`,
}))
