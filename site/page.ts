import { html } from 'hono/html'
import { EXAMPLE_ORIGIN } from '../lib/http/site.ts'
import { curl } from './curl-sample.ts'
import { endpointSection } from './endpoint-section.ts'
import { guides } from './guides.ts'
import type { Html } from './prose.ts'
import { isMetric } from './reference/endpoint.ts'
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
  <div class="top">
    <a class="title" href="#introduction">${title} <span class="version">${version}</span></a>
    <search class="live">
      <input id="search" type="search" placeholder="Search: press /" aria-label="Search" aria-controls="found" autocomplete="off" spellcheck="false">
      <ul id="found" hidden></ul>
    </search>
  </div>
  <form id="key" class="key live" autocomplete="off">
    <label for="key-input">API key</label>
    <input id="key-input" type="text" class="secret" placeholder="svc_live_…" aria-describedby="key-state" autocomplete="off" autocapitalize="off" autocorrect="off" spellcheck="false" data-1p-ignore data-lpignore="true">
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
    <li class="live"><button type="button" class="quiet" id="copy-reference">Copy for an assistant</button></li>
  </ul>
</nav>
<main id="main" tabindex="-1">
${overview(reference)}
${guide.map(
  ({ id, title, content }) => html`<section class="guide" id="${id}" aria-labelledby="${id}-title">
  <h2><span id="${id}-title">${title}</span></h2>
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

/** Renders the first screen: the figures of a brand, or without a key what the service counts, and how to begin. */
const overview = ({
  title,
  summary,
  endpoints,
}: Reference): Html => html`<section id="introduction" aria-labelledby="introduction-title">
  <h1 id="introduction-title">${title}</h1>
  <div id="own" hidden>
    <div class="tools controls live">
      <form id="own-form" autocomplete="off"><label>Brand <select data-parameter="brandId" required><option value=""></option></select></label></form>
      <div id="own-controls"></div>
      <button type="button" class="quiet" data-link="own-form">Copy link</button>
    </div>
    <p role="status" id="own-state"></p>
    <div id="own-brand"></div>
    <h2>In a terminal</h2>
    <pre tabindex="0"><code id="own-request">${endpoints
      .filter(isMetric)
      .slice(0, 1)
      .map((endpoint) => curl({ origin: EXAMPLE_ORIGIN, endpoint, query: {} }))}</code></pre>
    <p class="buttons live"><button type="button" class="quiet" id="own-copy">Copy</button></p>
  </div>
  <div id="intro">
  <p class="lead">${summary}</p>
  <ul class="story">
    <li>
      <h2>An AI model answers</h2>
      <p class="question">Which brands make good hiking boots?</p>
      <blockquote>For long tours, testers often name <mark>Haldenpeak</mark> and Tarnvale. <cite>haldenpeak.example</cite></blockquote>
    </li>
    <li>
      <h2>The day becomes a row</h2>
      <dl><div><dt>date</dt><dd>2026-11-02</dd></div><div><dt>model_id</dt><dd>gpt-5.2</dd></div><div><dt>total_prompts</dt><dd>10</dd></div><div><dt>visible_count</dt><dd>6</dd></div></dl>
    </li>
    <li>
      <h2>You see where you stand</h2>
      <strong class="line-0">60 %</strong>
      <svg viewBox="0 0 240 96" role="img" aria-label="Over weeks, the visibility of the brand rises above that of its competitors"><path class="line-2" d="M0 34 40 38 80 42 120 46 160 58 200 54 236 56"/><path class="line-1" d="M0 70 40 66 80 68 120 64 160 66 200 62 236 64"/><path class="line-0" d="M0 60 40 58 80 50 120 52 160 22 200 28 236 24"/></svg>
    </li>
  </ul>
  <p class="live">Enter your API key above to see your brand here. The page keeps the key in memory, and sends it to this service only.</p>
  </div>
  <p>To keep a copy, read <a href="#keep-an-exact-copy">/days</a>, or use a connector. Where the operator has enabled the <a href="#share">share</a>, pandas, Spark, Power BI and others read whole tables, with a profile file that contains your key.</p>
  <p class="buttons live"><button type="button" class="quiet" id="profile">Download profile</button> <span role="status" id="profile-state"></span></p>
</section>`
