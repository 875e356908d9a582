// Stands in front of each Worker. workers.ts names its bundle "worker.js".
import worker from './worker.js'

const OTHER_HOST =
  'Only localhost and 127.0.0.1 are served. Use one of them, or allow other hosts: npm start -- --allow-network'

/**
 * Answers 404 to a request with headers for miniflare, as far as they change it: miniflare removes those that name another
 * URL or Worker, so the origin tells. A web page whose name leads to this machine would otherwise pass the check of the host.
 */
export default {
  ...worker,
  async fetch(request, env, context) {
    const { headers, url } = request
    const { origin, protocol } = new URL(url)
    // emulator/network.ts names the protocol of a proxy in front of it.
    const sent = `${'ALLOW_HTTP' in env ? protocol : 'http:'}//${headers.get('Host')}`
    const isChanged =
      URL.parse(sent)?.origin !== origin || [...headers.keys()].some((name) => name.startsWith('mf-'))
    if (isChanged || !worker.fetch) return new Response(null, { status: 404 })
    const response = await worker.fetch(request, env, context)
    if (response.status !== 403) return response
    // The Workers' message is for a service on the network, where a key could have been read.
    const body = (await response.text()).replace(/Plain HTTP is not served[^"]*/, OTHER_HOST)
    return new Response(body, { status: 403, headers: response.headers })
  },
}
