import script from './demo-page-script.mjs'

const PAGE = '/api/export/v1/docs'

const SCRIPT_HEADERS = {
  'Content-Type': 'text/javascript; charset=utf-8',
  'Cache-Control': 'no-cache',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
}

/** Serves the reference page with the keys of the demo. `demo-page.ts` binds the keys and the Worker of the page. */
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url)
    if (pathname === `${PAGE}/demo.js`) return new Response(script, { headers: SCRIPT_HEADERS })
    if (pathname === `${PAGE}/restate`) return restate(request, env)
    if (pathname !== PAGE) return env.PAGE.fetch(request)
    const headers = new Headers(request.headers)
    // Its ETag is that of the page without the keys.
    headers.delete('If-None-Match')
    const response = await env.PAGE.fetch(new Request(request, { headers }))
    return response.status === 200 ? addDemo(response, env.KEYS, isLocal(request, env)) : response
  },
}

/** Changes the past of the demo for the page alone: other sites can send requests to this machine, too. */
async function restate(request, env) {
  const isOwn = request.method === 'POST' && request.headers.get('Sec-Fetch-Site') === 'same-origin'
  if (!isOwn) return new Response(null, { status: 404 })
  if (!isLocal(request, env)) return new Response(null, { status: 403 })
  return fetch('https://demo.test/restate')
}

/**
 * Whether a client of this machine asks, under a name of this machine. network.ts marks other clients. A proxy with TLS
 * asks for others.
 */
function isLocal({ url, headers }, env) {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && new RegExp(env.LOOPBACK).test(hostname) && !headers.has('Emulator-Remote')
}

function addDemo(response, keys, isLocal) {
  const { status, headers, body } = new HTMLRewriter()
    .on('head', {
      element: (head) => head.append('<script type="module" src="docs/demo.js"></script>', { html: true }),
    })
    .on('#key-input', { element: (input) => input.setAttribute('value', keys[0].key) })
    .on('[data-changed]', { element: (panel) => isLocal && panel.append(RESTATE, { html: true }) })
    .on('#intro', { element: (intro) => intro.after(list(keys), { html: true }) })
    .transform(response)
  const kept = [...headers].filter(([name]) => name !== 'etag' && name !== 'content-length')
  return new Response(body, { status, headers: kept })
}

const RESTATE = `
<div class="inset">
  <p><button type="button" class="quiet" data-restate>Change the past of the demo</button></p>
  <p role="status" data-restated></p>
</div>`

const list = (keys) => `
<p>This is the demo, with its key <b>${keys[0].label}</b>. For a terminal: <code>export EXPORT_API_KEY=${keys[0].key}</code></p>
<div class="response">
  <details>
    <summary>Keys of the demo</summary>
    <dl class="fields">${keys.map(item).join('')}</dl>
  </details>
</div>`

const item = ({ label, key, note }) => `
<div>
  <dt>${label} <button type="button" class="quiet" data-demo-key="${key}" aria-label="Use ${label}">Use</button></dt>
  <dd>${note}<br><code>${key}</code></dd>
</div>`
