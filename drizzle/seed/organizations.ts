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
