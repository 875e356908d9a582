import { createHash } from 'node:crypto'
import type { Client } from 'pg'
import { insertRows } from '../../drizzle/seed/insert-rows.ts'
import { fixedId } from './fixed-id.ts'
import { twins } from './twins.ts'

const MARKETS = ['Ελλάδα'.normalize('NFD'), 'United\nStates\t1 ']

/** Where answers come from. The first two are there on every day. */
export const PLACES = [
  { model: 'certify-model', market: 0 },
  { model: 'Certify/Model:2', market: 1 },
  ...twins('modèle', 1_900).map((model) => ({ model, market: 0 })),
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
    PLACES.map(({ model }, place) => ({ id: model, provider: place === 0 ? 'A "quoted", provider' : '' })),
  )
  await insertRows(
    client,
    'markets',
    MARKETS.map((name, market) => ({ id: fixedId('market', market), name })),
  )
}
