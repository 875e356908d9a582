import { createHash } from 'node:crypto'
import type { Client } from 'pg'
import { haldenpeak } from './brands/haldenpeak.ts'
import { demoId } from './ids.ts'
import { insertRows } from './insert-rows.ts'
import { ORGANIZATIONS } from './organizations.ts'

const { enterprise, agency, pro, lite } = ORGANIZATIONS

/** A key that is recognizable as a demo key: `de30` repeated, then a number. */
function demoKey(number: number): string {
  return `svc_live_${'de30'.repeat(15)}${String(number).padStart(4, '0')}`
}

/** Reads all brands of the demo that are active, and all days. */
export const ENTERPRISE_KEY = demoKey(1)

/** A key for each plan and state. */
export const KEYS = [
  { label: 'enterprise', key: ENTERPRISE_KEY, note: 'reads two brands, full history', owner: enterprise },
  { label: 'agency', key: demoKey(2), note: 'reads one brand, last 180 days', owner: agency },
  { label: 'pro', key: demoKey(3), note: 'reads one brand, last 90 days', owner: pro },
  {
    label: 'brand-limited',
    key: demoKey(4),
    note: `reads ${haldenpeak.name} only`,
    owner: enterprise,
    brands: [demoId('brand', haldenpeak.slug)],
  },
  {
    label: 'revoked',
    key: demoKey(5),
    note: 'returns 401',
    owner: enterprise,
    revoked: '2026-06-30T16:00:00Z',
  },
  {
    label: 'expired',
    key: demoKey(6),
    note: 'returns 401',
    owner: enterprise,
    expires: '2026-06-30T00:00:00Z',
  },
  { label: 'lite', key: demoKey(7), note: 'returns 403', owner: lite },
]

/** Inserts the hashes of the keys. */
export const insertKeys = (client: Client): Promise<void> => insertRows(client, 'api_keys', KEYS.map(keyRow))

function keyRow({ label, key, owner, brands, expires, revoked }: (typeof KEYS)[number]) {
  return {
    id: demoId('key', label),
    organization_id: owner.id,
    created_by: owner.people[0]?.id,
    scope: 'export',
    label: `Demo: ${label}`,
    key_hash: `\\x${createHash('sha256').update(key).digest('hex')}`,
    last_four: key.slice(-4),
    brand_ids: brands ?? null,
    expires_at: expires ?? null,
    revoked_at: revoked ?? null,
    created_at: '2026-03-02T08:30:00Z',
  }
}
