import { html } from 'hono/html'
import { limits } from './limits.ts'
import { type Html, prose } from './prose.ts'
import type { Reference } from './reference.ts'
import { section } from './section.ts'

type Page = {
  readonly reference: Reference
  /** Addresses of the files that belong to the page. */
  readonly files: { readonly script: string; readonly style: string; readonly icon: string }
}

/** The whole page, as HTML. */
export function page({ reference, files }: Page): Html {
  const { title, version, summary, description, endpoints, refusals, headers } = reference
  const ids = new Set(endpoints.map(({ id }) => id))
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<meta name="description" content="${summary}">
<link rel="icon" href="${files.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${files.style}">
<script type="module" src="${files.script}"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the endpoints</a>
<header>
  <a class="title" href="#start">${title} <span class="version">${version}</span></a>
  <form id="key" class="key" autocomplete="off">
    <label for="key-input">Key</label>
    <input id="key-input" type="text" class="secret" placeholder="svc_live_…" autocomplete="off" autocapitalize="off" autocorrect="off" spellcheck="false" data-1p-ignore data-lpignore="true">
    <button type="button" class="quiet" id="key-show" aria-pressed="false">Show</button>
    <button type="submit">Use key</button>
    <p id="key-state" class="key-state" role="status"></p>
  </form>
</header>
<div class="frame">
<nav aria-label="On this page">
  <ul>
    <li><a href="#start">Start</a></li>
    <li><a href="#limits">Limits</a></li>
  </ul>
  <ul>${endpoints.map(({ id }) => html`<li><a href="#${id}">/${id}</a></li>`)}</ul>
  <ul>
    <li><a href="#errors">Errors</a></li>
    <li><a href="#headers">Headers</a></li>
    <li><a href="openapi.json">openapi.json</a></li>
  </ul>
</nav>
<main id="main" tabindex="-1">
<section id="start" aria-labelledby="start-title">
  <h1 id="start-title">${title}</h1>
  <p class="lead">${summary}</p>
  <noscript><p class="note">Code samples and requests to try need JavaScript; all else is here without.</p></noscript>
  <ol class="steps">
    <li>Paste a key above: it stays in this page's memory until you close it, and goes nowhere but to this service, with the requests that you send.</li>
    <li>Pick a brand and days at any endpoint. Its code samples follow.</li>
    <li>Send. A request from here counts against the rate limit like any other.</li>
  </ol>
  ${description.split('\n\n').map((part) => html`<p>${prose(part, ids)}</p>`)}
</section>
<section id="limits" aria-labelledby="limits-title">
  <h2 id="limits-title">Limits</h2>
  ${limits()}
</section>
<datalist id="brands-list"></datalist>
${endpoints.map((endpoint) => section(endpoint, ids))}
<section id="errors" aria-labelledby="errors-title">
  <h2 id="errors-title">Errors, and 304</h2>
  <p>Every error is <code>{"error": "a sentence"}</code>.</p>
  <dl class="fields">${refusals.map(
    ({ status, description, sentence, retries }) =>
      html`<div><dt><span class="status" data-kind="${status.slice(0, 1)}">${status}</span></dt><dd>${prose(description, ids)}${
        retries ? html` <code>Retry-After</code> says how many seconds to wait.` : ''
      }${sentence && html`<br><span class="sentence">${sentence}</span>`}</dd></div>`,
  )}</dl>
</section>
<section id="headers" aria-labelledby="headers-title">
  <h2 id="headers-title">Headers of answers</h2>
  <dl class="fields">${headers.map(
    ({ name, description }) =>
      html`<div><dt><code>${name}</code></dt><dd>${prose(description, ids)}</dd></div>`,
  )}</dl>
</section>
</main>
</div>
</body>
</html>
`
}
