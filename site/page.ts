import { html } from 'hono/html'
import type { Reference } from '../reference/reference.ts'
import { endpointSection } from './endpoint-section.ts'
import { limits } from './limits.ts'
import { type Html, prose } from './prose.ts'

type Page = {
  readonly reference: Reference
  /** Addresses of the page's files. */
  readonly files: { readonly script: string; readonly style: string; readonly icon: string }
}

/** Renders the reference page. */
export function page({ reference, files }: Page): Html {
  const { title, version, summary, description, endpoints, responses, headers } = reference
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
<link rel="alternate" type="text/markdown" href="docs.md">
<link rel="stylesheet" href="${files.style}">
<script type="module" src="${files.script}"></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header>
  <a class="title" href="#introduction">${title} <span class="version">${version}</span></a>
  <form id="key" class="key" autocomplete="off">
    <label for="key-input">API key</label>
    <input id="key-input" type="text" class="secret" placeholder="svc_live_…" autocomplete="off" autocapitalize="off" autocorrect="off" spellcheck="false" data-1p-ignore data-lpignore="true">
    <button type="button" class="quiet" id="key-show" aria-pressed="false">Show</button>
    <button type="submit">Use key</button>
    <p id="key-state" class="key-state" role="status"></p>
  </form>
</header>
<div class="frame">
<nav aria-label="On this page">
  <ul>
    <li><a href="#introduction">Introduction</a></li>
    <li><a href="#limits">Limits</a></li>
  </ul>
  <ul>${endpoints.map(({ id }) => html`<li><a href="#${id}">/${id}</a></li>`)}</ul>
  <ul>
    <li><a href="#errors">Errors</a></li>
    <li><a href="#headers">Headers</a></li>
    <li><a href="openapi.json">openapi.json</a></li>
    <li><a href="docs.md">docs.md</a></li>
  </ul>
</nav>
<main id="main" tabindex="-1">
<section id="introduction" aria-labelledby="introduction-title">
  <h1 id="introduction-title">${title}</h1>
  <p class="lead">${summary}</p>
  <noscript><p class="note">The code samples and request forms require JavaScript.</p></noscript>
  <ol class="steps">
    <li>To send requests from this page, paste your API key above. The page keeps it in memory and sends it to this service only.</li>
    <li>Choose a brand and dates at any endpoint. All code samples use them, and the address of this page keeps them.</li>
    <li>Send the request. It counts against your rate limit.</li>
  </ol>
  <p>The code samples print rows. To keep a copy, follow <a href="#changes">/changes</a> as <a href="docs.md">docs.md</a> describes, or use one of the connectors.</p>
  <p>Where the operator has enabled the share, pandas, Spark, Power BI and other tools read whole tables by Delta Sharing, as <a href="docs.md">docs.md</a> describes. Each opens the share with a profile file, which contains your key.</p>
  <p class="buttons"><button type="button" class="quiet" id="profile">Download profile</button> <span role="status" id="profile-state"></span></p>
  ${description.split('\n\n').map((paragraph) => html`<p>${prose(paragraph, ids)}</p>`)}
</section>
<section id="limits" aria-labelledby="limits-title">
  <h2 id="limits-title">Limits</h2>
  ${limits()}
</section>
${endpoints.map((endpoint) => endpointSection(endpoint, ids))}
<section id="errors" aria-labelledby="errors-title">
  <h2 id="errors-title">Errors</h2>
  <p>Every error has the body <code>{"error": "…"}</code>, with a message about the cause. 304 is not an error and has no body.</p>
  <dl class="fields">${responses.map(
    ({ status, description, message }) =>
      html`<div><dt><span class="status" data-kind="${status.slice(0, 1)}">${status}</span></dt><dd>${prose(description, ids)}${
        message && html`<br><span class="message">${message}</span>`
      }</dd></div>`,
  )}</dl>
</section>
<section id="headers" aria-labelledby="headers-title">
  <h2 id="headers-title">Response headers</h2>
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
