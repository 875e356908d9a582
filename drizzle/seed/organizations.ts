import type { Client } from 'pg'
import type { Plan } from '../tables/application.ts'
import { demoId } from './ids.ts'
import { insertRows } from './insert-rows.ts'

const CREATED_AT = '2026-01-12T09:00:00Z'

type Role = 'owner' | 'admin' | 'member'

function organization(slug: string, name: string, plan: Plan, people: Readonly<Record<string, Role>>) {
  return {
    id: demoId('organization', slug),
    name,
    plan,
    people: Object.entries(people).map(([person, role]) => ({
      id: demoId('user', slug, person),
      email: `${person}@${slug}.example`,
      role,
    })),
  }
}

/** One organization per plan. The lite plan has no API access. */
export const ORGANIZATIONS = {
  enterprise: organization('northgate', 'Northgate Brands', 'enterprise', {
    ingrid: 'owner',
    tomas: 'admin',
    priya: 'member',
  }),
  agency: organization('plume', 'Plume & Partners', 'agency', { margaux: 'owner' }),
  pro: organization('ledgerfin', 'Ledgerfin', 'pro', { daniel: 'owner' }),
  lite: organization('saffron', 'Saffron Lane', 'lite', { aiko: 'owner' }),
} satisfies Record<Plan, object>

const ALL = Object.values(ORGANIZATIONS)

/** Inserts the organizations with their subscriptions and members. */
export async function insertOrganizations(client: Client): Promise<void> {
  const people = ALL.flatMap(({ id, people }) => people.map((person) => ({ ...person, organization_id: id })))
  const organizations = ALL.map(({ id, name }) => ({ id, name, created_at: CREATED_AT }))
  await insertRows(client, 'organizations', organizations)
  const subscriptions = ALL.map(({ id, plan }) => ({
    organization_id: id,
    plan,
    status: 'active',
    updated_at: CREATED_AT,
  }))
  await insertRows(client, 'subscriptions', subscriptions)
  const users = people.map(({ id, email }) => ({ id, email, created_at: CREATED_AT }))
  await insertRows(client, 'users', users)
  const memberships = people.map(({ organization_id, id, role }) => ({
    organization_id,
    user_id: id,
    role,
    created_at: CREATED_AT,
  }))
  await insertRows(client, 'memberships', memberships)
}
