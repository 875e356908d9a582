import { html } from 'hono/html'
import { PAGE_SIZE } from '../lib/page.ts'
import { PLANS } from '../lib/plans.ts'
import { BUDGET } from '../lib/rate-limit.ts'
import { DEFAULT_DAYS } from '../lib/window.ts'
import type { Html } from './prose.ts'

/** Every limit of the service, out of the tables that it keeps to itself. */
export const limits = (): Html => html`<dl class="facts">
  <div><dt>Rate</dt><dd>${BUDGET.requests} requests in each clock ${BUDGET.seconds === 60 ? 'minute' : `${BUDGET.seconds} s`}, over all endpoints together, for each session or, without one, for each network address and User-Agent</dd></div>
  <div><dt>Page</dt><dd>${PAGE_SIZE} rows at most</dd></div>
  <div><dt>Window without <code>fromDate</code></dt><dd>the last ${DEFAULT_DAYS} days</dd></div>
</dl>
<table>
  <caption>What a plan allows</caption>
  <thead><tr><th scope="col">plan</th><th scope="col">reaches back</th><th scope="col">keys</th></tr></thead>
  <tbody>${Object.entries(PLANS).map(
    ([plan, { lookbackDays, keys }]) =>
      html`<tr><th scope="row">${plan}</th><td>${reach(lookbackDays)}</td><td>${keys}</td></tr>`,
  )}</tbody>
</table>`

function reach(days: number | null): string {
  if (days === null) return 'all of history'
  return days === 0 ? 'no access' : `${days} days`
}
