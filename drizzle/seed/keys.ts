import { demoId } from './ids.ts'
import { ORGANIZATIONS } from './organizations.ts'

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
