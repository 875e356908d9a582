import { html } from 'hono/html'
import { PAGE_SIZE } from '../lib/page.ts'
import { PLANS } from '../lib/plans.ts'
import { BUDGET } from '../lib/rate-limit.ts'
import { DEFAULT_DAYS } from '../lib/window.ts'
import type { Html } from './prose.ts'

/** Renders the limits of the service from the constants that enforce them. */
export const limits = (): Html => html`<dl class="facts">
  <div><dt>Rate limit</dt><dd>${BUDGET.requests} requests, refilled by ${BUDGET.refill.requests} every ${BUDGET.refill.seconds} seconds, across all endpoints. The limit applies to each session cookie or <code>Authorization</code> header. Requests without either share the limit of their IP address and User-Agent.</dd></div>
  <div><dt>Page size</dt><dd>up to ${PAGE_SIZE} rows</dd></div>
  <div><dt>Default window of a metric</dt><dd>from ${DEFAULT_DAYS} days before today until now</dd></div>
</dl>
<table>
  <caption>Limits by plan</caption>
  <thead><tr><th scope="col">Plan</th><th scope="col">History</th><th scope="col">API keys</th></tr></thead>
  <tbody>${Object.entries(PLANS).map(
    ([plan, { lookbackDays, keys }]) =>
      html`<tr><th scope="row">${plan}</th><td>${history(lookbackDays)}</td><td>${keys}</td></tr>`,
  )}</tbody>
</table>`

function history(days: number | null): string {
  if (days === null) return 'full history'
  return days === 0 ? 'no access' : `${days} days`
}
