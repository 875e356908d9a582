import { PAID_PLANS, PLANS } from '../../../lib/access/plans.ts'
import { RATE_LIMIT } from '../../../lib/limits/rate-limit.ts'
import { DEFAULT_DAYS } from '../../../lib/page/window.ts'
import { PAGE_SIZE } from '../../../lib/rows/size.ts'

const lookbacks = PAID_PLANS.map((plan) => {
  const days = PLANS[plan].lookbackDays
  return `${days === null ? 'no limit' : `${days} days`} (${plan})`
})

/** The description of the whole API. Blank lines separate its paragraphs. */
export const INTRODUCTION = `Send your API key in the \`X-API-Key\` header. Start with \`/brands\`: metrics require a \`brandId\` from its
response.

Metrics and \`/changes\` return pages of up to ${PAGE_SIZE} rows, and fewer when these are large. To get all rows, send
\`pagination.nextCursor\` as \`cursor\` until \`hasMore\` is false. Keep the other parameters the same for all pages. \`format=csv\` and \`format=ndjson\`
return all rows of a window as one file instead.

Metrics cover counted answers: answers without an error, to prompts that are not retired and that count in metrics.
To compute a rate for a period, sum the counts, then divide. The average of daily rates is a different number.

Dates are UTC days. Without \`fromDate\`, the window of a metric starts ${DEFAULT_DAYS} days before today. Your plan limits
how far back a window reaches: ${lookbacks.join(', ')}. The rate limit is ${RATE_LIMIT.requests}
requests, refilled by ${RATE_LIMIT.refill.requests} every ${RATE_LIMIT.refill.seconds} seconds, across all endpoints.

Late data and edits can change days you have already loaded, however old. \`/changes\` lists the days that changed since your
last sync, and all days the first time. Request the listed days, and your copy stays exact. If you cannot store
\`since\`, request the most recent days again every day. This misses changes to older days. Either way, delete the
requested days from your copy and insert what you received. Never merge rows, because a row can disappear from its day. The fields in
\`x-primary-key\` identify a row, within its brand. They compare by code point.`
