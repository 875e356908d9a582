import type { Client } from 'pg'
import { demoId } from './ids.ts'

type Role = 'owner' | 'admin' | 'member'

function organization(slug: string, name: string, plan: string, people: Readonly<Record<string, Role>>) {
  return {
    id: demoId('organization', slug),
    name,
    plan,
    created_at: '2026-01-12T09:00:00Z',
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
}

const ALL = Object.values(ORGANIZATIONS)

/** Inserts the organizations with their subscriptions and members. */
export async function insertOrganizations(client: Client): Promise<void> {
  const rows = JSON.stringify(ALL)
  const people = JSON.stringify(
    ALL.flatMap(({ id, people }) => people.map((person) => ({ ...person, organization_id: id }))),
  )
  await client.query(
    `insert into organizations (id, name, created_at)
     select id, name, created_at from jsonb_to_recordset($1) as o(id uuid, name text, created_at timestamptz)
     on conflict (id) do update set name = excluded.name, created_at = excluded.created_at`,
    [rows],
  )
  await client.query(
    `insert into subscriptions (organization_id, plan, status, updated_at)
     select id, plan, 'active', created_at
     from jsonb_to_recordset($1) as o(id uuid, plan text, created_at timestamptz)`,
    [rows],
  )
  await client.query(
    `insert into users (id, email, created_at)
     select id, email, '2026-01-12T09:00:00Z' from jsonb_to_recordset($1) as u(id uuid, email text)
     on conflict (id) do update set email = excluded.email, created_at = excluded.created_at`,
    [people],
  )
  await client.query(
    `insert into memberships (organization_id, user_id, role, created_at)
     select organization_id, id, role, '2026-01-12T09:00:00Z'
     from jsonb_to_recordset($1) as m(organization_id uuid, id uuid, role text)`,
    [people],
  )
}
