import { PLANS } from '../../lib/access/plans.ts'
import { RATE_LIMIT } from '../../lib/limits/rate-limit.ts'
import { DEFAULT_DAYS } from '../../lib/page/window.ts'
import { PAGE_SIZE } from '../../lib/rows/size.ts'

/** The limits of the service, from the constants that enforce them. */
export const LIMITS: Readonly<Record<string, string>> = {
  'Rate limit': `${RATE_LIMIT.requests} requests, refilled by ${RATE_LIMIT.refill.requests} every ${RATE_LIMIT.refill.seconds} seconds, across all endpoints. The limit applies to each session cookie or \`Authorization\` header. A client that sends only its key is identified by its IP address and \`User-Agent\` together: the key does not count.`,
  'Page size': `up to ${PAGE_SIZE} rows`,
  'Default window of a metric': `from ${DEFAULT_DAYS} days before today until now`,
}

/** The limits of each plan, as cells of a table. */
export const PLAN_LIMITS = Object.entries(PLANS).map(([plan, { lookbackDays, keys }]) => ({
  plan,
  history: history(lookbackDays),
  keys: String(keys),
}))

function history(days: number | null): string {
  if (days === null) return 'full history'
  return days === 0 ? 'no access' : `${days} days`
}
