import { html } from 'hono/html'
import { endpointSection } from './endpoint-section.ts'
import { guides } from './guides.ts'
import { overview } from './overview.ts'
import { anchor, type Html } from './prose.ts'
import type { Reference } from './reference/reference.ts'

type Page = {
  readonly reference: Reference
  /** The same reference as Markdown. */
  readonly markdown: string
  /** Addresses of the page's files. */
  readonly files: { readonly script: string; readonly style: string; readonly icon: string }
}

/** Renders the reference page. */
export function page({ reference, markdown, files }: Page): Html {
  const { title, version, summary, endpoints } = reference
  const ids = new Set(endpoints.map(({ id }) => id))
  const guide = guides(markdown)
  const link = ({ id, title }: { id: string; title: string }) => html`<li><a href="#${id}">${title}</a></li>`
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
  <search class="live">
    <input id="search" type="search" placeholder="Search: press /" aria-label="Search" aria-controls="found" autocomplete="off" spellcheck="false">
    <ul id="found" hidden></ul>
  </search>
  <form id="key" class="key live" autocomplete="off">
    <label for="key-input">API key</label>
    <input id="key-input" type="text" class="secret" placeholder="svc_live_…" autocomplete="off" autocapitalize="off" autocorrect="off" spellcheck="false" data-1p-ignore data-lpignore="true">
    <button type="button" class="quiet" id="key-show" aria-pressed="false">Show</button>
    <button type="submit">Use key</button>
    <p id="key-state" role="status">The page keeps the key in memory only: after a reload, paste it again.</p>
  </form>
</header>
<div class="frame">
<nav aria-label="On this page">
  <ul><li><a href="#introduction">Introduction</a></li>${guide.map(link)}</ul>
  <ul>${endpoints.map(({ id }) => link({ id, title: `/${id}` }))}</ul>
  <ul>
    <li><a href="openapi.json">openapi.json</a></li>
    <li><a href="docs.md">docs.md</a></li>
    <li class="live"><button type="button" class="quiet" id="assistant">Copy for an assistant</button> <span role="status" id="assistant-state"></span></li>
  </ul>
</nav>
<main id="main" tabindex="-1">
${overview(reference)}
${guide.map(
  ({ id, title, content }) => html`<section class="guide" id="${id}" aria-labelledby="${id}-title">
  <h2><span id="${id}-title">${title}</span>${anchor(id, title)}</h2>
  ${content}
</section>`,
)}
${endpoints.map((endpoint) => endpointSection(endpoint, ids))}
</main>
</div>
</body>
</html>
`
}
