import { createHash } from 'node:crypto'
import type { Client } from 'pg'
import { haldenpeak } from './brands/haldenpeak.ts'
import { demoId } from './ids.ts'
import { ORGANIZATIONS } from './organizations.ts'

const { enterprise, agency, pro, lite } = ORGANIZATIONS

/** A key that is recognizable as a demo key: `de30` repeated, then a number. */
function demoKey(number: number): string {
  return `svc_live_${'de30'.repeat(15)}${String(number).padStart(4, '0')}`
}

/** A key for each plan and state. */
export const KEYS = [
  {
    label: 'enterprise',
    key: demoKey(1),
    note: 'reads two brands, full history',
    owner: enterprise,
  },
  { label: 'agency', key: demoKey(2), note: 'reads two other brands, last 180 days', owner: agency },
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
export async function insertKeys(client: Client): Promise<void> {
  await client.query(
    `insert into api_keys (id, organization_id, created_by, scope, label, key_hash, last_four, brand_ids,
       expires_at, revoked_at, created_at)
     select id, organization_id, created_by, 'export', label, decode(key_hash, 'hex'), last_four, brand_ids,
       expires_at, revoked_at, '2026-03-02T08:30:00Z'
     from jsonb_to_recordset($1) as k(id uuid, organization_id uuid, created_by uuid, label text, key_hash text,
       last_four text, brand_ids uuid[], expires_at timestamptz, revoked_at timestamptz)`,
    [JSON.stringify(KEYS.map(keyRow))],
  )
}

function keyRow(demo: (typeof KEYS)[number]) {
  return {
    id: demoId('key', demo.label),
    organization_id: demo.owner.id,
    created_by: demo.owner.people[0]?.id,
    label: `Demo: ${demo.label}`,
    key_hash: createHash('sha256').update(demo.key).digest('hex'),
    last_four: demo.key.slice(-4),
    brand_ids: demo.brands ?? null,
    expires_at: demo.expires ?? null,
    revoked_at: demo.revoked ?? null,
  }
}
