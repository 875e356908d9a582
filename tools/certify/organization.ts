import { createHash } from 'node:crypto'
import type { Client } from 'pg'
import { insertRows } from '../../drizzle/seed/insert-rows.ts'
import { fixedId } from './fixed-id.ts'

/** Where answers come from. */
export const PLACES = [
  { model: 'certify-model', provider: 'A "quoted", provider', market: 'Ελλάδα' },
  { model: 'certify/model:2', provider: '', market: 'United\nStates\t1' },
]

/** Adds an organization with the enterprise plan and some keys, and the models and markets. */
export async function addOrganization(client: Client, keys: readonly string[]): Promise<void> {
  await insertRows(client, 'organizations', [{ id: fixedId('organization'), name: 'Certify' }])
  await insertRows(client, 'users', [{ id: fixedId('user'), email: 'owner@certify.example' }])
  const subject = { organization_id: fixedId('organization') }
  await insertRows(client, 'memberships', [{ ...subject, user_id: fixedId('user'), role: 'owner' }])
  await insertRows(client, 'subscriptions', [{ ...subject, plan: 'enterprise', status: 'active' }])
  await insertRows(
    client,
    'api_keys',
    keys.map((key, index) => ({
      id: fixedId('key', index),
      ...subject,
      created_by: fixedId('user'),
      scope: 'export',
      label: 'Certify',
      key_hash: `\\x${createHash('sha256').update(key).digest('hex')}`,
      last_four: key.slice(-4),
    })),
  )
  await insertRows(
    client,
    'models',
    PLACES.map(({ model, provider }) => ({ id: model, provider })),
  )
  await insertRows(
    client,
    'markets',
    PLACES.map(({ market }, place) => ({ id: fixedId('market', place), name: market })),
  )
}
