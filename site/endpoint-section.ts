import { html } from 'hono/html'
import { EXAMPLE_ORIGIN } from '../lib/http/site.ts'
import { DEFAULT_DAYS } from '../lib/statement/window.ts'
import { curl } from './curl-sample.ts'
import { type Html, prose } from './prose.ts'
import {
  type Endpoint,
  fileParameter,
  isMetric,
  isPaged,
  listsChanges,
  type Parameter,
} from './reference/endpoint.ts'

/** Renders the section of an endpoint: what it returns, and next to it a form, code samples and a response. */
export function endpointSection(endpoint: Endpoint, ids: ReadonlySet<string>): Html {
  const { id, path, summary, description, parameters, fields, statuses, example } = endpoint
  const format = fileParameter(endpoint)
  const inputs = parameters.filter((parameter) => parameter !== format)
  const errors = statuses.filter((status) => status >= '400')
  return html`<section class="endpoint" id="${id}" aria-labelledby="${id}-title">
  <div>
    <h2><span id="${id}-title">${summary}</span></h2>
    <p><span class="method">GET</span> <code>${path}</code></p>
    <p>${prose(description, ids)}</p>
  </div>
  <div class="panel">
    <form class="try live" id="${id}-try" data-endpoint="${id}" autocomplete="off" novalidate aria-label="Request: ${summary}">
      ${inputs.map((parameter) => field(endpoint, parameter))}
      <p class="buttons"><button type="submit">Send</button>${isPaged(endpoint) ? html`<button type="submit" class="quiet" data-next hidden>Next page</button>` : ''}${format && html`<button type="submit" class="quiet" data-download>Download CSV</button>`}${isPaged(endpoint) ? html`<button type="button" class="quiet" data-link="${id}-try">Copy link</button>` : ''}</p>
      <p class="state"><span role="status" data-status></span> <span data-progress></span></p>
    </form>
    ${listsChanges(endpoint) ? html`<div class="response live"><details data-changed><summary>What changed</summary></details></div>` : ''}<div class="response" data-response="${id}"></div>
    <div class="samples" data-samples="${id}">
      <div class="bar live"></div>
      <pre id="${id}-code" tabindex="0"><code>${curl({ origin: EXAMPLE_ORIGIN, endpoint, query: {} })}</code></pre>
    </div>
    <details class="example" open><summary>Example response</summary><pre tabindex="0" role="region" aria-label="Example response of ${summary}"><code data-language="json">${example}</code></pre></details>
  </div>
  <div>
    <details open><summary><h3>Fields</h3></summary><dl class="fields">${fields.map(
      ({ name, type, nullable, description }) =>
        html`<div id="${id}.${name}"><dt><code>${name}</code> <span class="type">${type}${nullable ? ' or null' : ''}</span></dt><dd>${prose(description, ids)}</dd></div>`,
    )}</dl></details>
    <h3>Errors</h3>
    <p>${errors.map((status) => html`<a class="status" href="#errors.${status}">${status}</a> `)}</p>
  </div>
</section>`
}

/** What a parameter without a value stands for: at a metric, and elsewhere. */
const DEFAULTS: Readonly<Record<string, readonly [metric: string, other: string]>> = {
  fromDate: [`or ${DEFAULT_DAYS} days ago`, 'or the first day'],
  toDate: ['or today', 'or the last day'],
  cursor: ['or the first page', 'or the first page'],
  since: ['', 'or all changes'],
  endpoint: ['', 'or all metrics'],
}

/** Renders an input. What its parameter means is said once, in the section of parameters. */
function field(endpoint: Endpoint, { name, type, required }: Parameter): Html {
  const input = `${endpoint.id}-${name}`
  const hint = required ? 'required' : DEFAULTS[name]?.[isMetric(endpoint) ? 0 : 1]
  const attributes = html`id="${input}" data-parameter="${name}"`
  return html`<div class="field" data-type="${type}">
        <label for="${input}"><code>${name}</code> <span class="about">${hint}</span></label> <a class="about" href="#parameters.${name}" aria-label="About ${name}">?</a>
        ${
          name === 'brandId'
            ? html`<select ${attributes} ${required ? 'required' : ''}><option value="">${required ? 'Use a key to list its brands' : 'All brands'}</option></select>`
            : html`<input ${attributes} type="${type === 'date' ? 'date' : 'text'}" autocapitalize="off" spellcheck="false">`
        }
      </div>`
}
