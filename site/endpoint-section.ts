import { html } from 'hono/html'
import { toText } from '../reference/formula.ts'
import { type Endpoint, fileParameter, isPaged, type Parameter } from '../reference/reference.ts'
import { breakable, type Html, prose } from './prose.ts'
import { SAMPLES } from './samples.ts'

/** Renders the section of an endpoint. */
export function endpointSection(endpoint: Endpoint, ids: ReadonlySet<string>): Html {
  const { id, path, summary, description, parameters, fields, formula, example } = endpoint
  const format = fileParameter(endpoint)
  const inputs = parameters.filter((parameter) => parameter !== format)
  return html`<section class="endpoint" id="${id}" aria-labelledby="${id}-title">
  <h2 id="${id}-title">${summary}</h2>
  <p class="path"><span class="method">GET</span> <code>${breakable(path)}</code> <a href="#${id}-try">Try it</a></p>
  <div class="columns">
    <div>
      <p>${prose(description, ids)}</p>
      ${
        formula &&
        html`<figure class="formula" aria-label="Formula">
        <div><code>${toText(formula.part)}</code></div>
        <div class="over"><code>${toText(formula.whole)}</code></div>
        <div class="times">× 100</div>
        ${formula.per && html`<figcaption>per <code>${formula.per}</code></figcaption>`}
        ${formula.breakdown && html`<figcaption>of all rows, or per <code>${formula.breakdown}</code></figcaption>`}
      </figure>`
      }
      <h3>Fields</h3>
      <dl class="fields">${fields.map(
        ({ name, type, nullable, description }) =>
          html`<div><dt><code>${name}</code> <span class="type">${type}${nullable ? ' or null' : ''}</span></dt><dd>${prose(description, ids)}</dd></div>`,
      )}</dl>
    </div>
    <div>
      ${samples(endpoint)}
      <details class="example"><summary>Example response</summary><pre tabindex="0" role="region" aria-label="Example response"><code data-language="json">${example}</code></pre></details>
    </div>
  </div>
  <form class="try" id="${id}-try" data-endpoint="${id}" autocomplete="off" novalidate aria-label="Request: ${summary}">
    <h3>Try it</h3>
    ${
      inputs.length === 0
        ? ''
        : html`<details class="parameters"><summary>Parameters <span data-values></span></summary>
    <div>${inputs.map((parameter) => field(id, parameter, ids))}</div></details>`
    }
    <p class="buttons"><button type="submit">Send</button>${isPaged(endpoint) ? html` <button type="button" class="quiet" data-next hidden>Next page</button>` : ''}${format && html` <button type="button" class="quiet" data-download>Download CSV</button>`}</p>
    ${
      format &&
      html`<p class="download"><span role="status" data-download-status></span><span data-progress></span></p>
    <p class="about"><code>${format.name}</code>: ${prose(format.description, ids)}</p>`
    }
  </form>
  <div class="response" data-response="${id}"><p role="status" data-summary></p><div data-details></div></div>
</section>`
}

function samples({ id, summary }: Endpoint): Html {
  return html`<div class="samples" data-samples="${id}">
    <div class="bar">
      <div role="tablist" aria-label="Code samples: ${summary}">${Object.entries(SAMPLES).map(
        ([language, { label }], index) =>
          html`<button type="button" role="tab" id="${id}-${language}" aria-controls="${id}-code" aria-selected="${index === 0 ? 'true' : 'false'}" tabindex="${index === 0 ? '0' : '-1'}" data-language="${language}">${label}</button>`,
      )}</div>
      <button type="button" class="quiet" data-copy>Copy</button>
    </div>
    <pre role="tabpanel" id="${id}-code" tabindex="0" aria-labelledby="${id}-curl"><code></code></pre>
  </div>`
}

const INPUTS: Readonly<Record<string, string>> = { date: 'date' }

function field(id: string, { name, type, required, description }: Parameter, ids: ReadonlySet<string>): Html {
  const input = `${id}-${name}`
  const attributes = html`id="${input}" data-parameter="${name}" aria-describedby="${input}-about"`
  return html`<div class="field" data-type="${type}">
    <label for="${input}"><code>${name}</code>${required ? ' (required)' : ''}</label>
    ${
      name === 'brandId'
        ? html`<select ${attributes} ${required ? 'required' : ''}><option value="">${required ? 'Use a key to list its brands' : 'All brands'}</option></select> <code data-brand></code>`
        : html`<input ${attributes} type="${INPUTS[type] ?? 'text'}" autocapitalize="off" spellcheck="false">`
    }
    <p class="about" id="${input}-about">${prose(description, ids)}</p>
  </div>`
}
