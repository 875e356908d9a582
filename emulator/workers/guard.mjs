// Stands in front of each Worker. workers.ts names its bundle "worker.js".
import worker from './worker.js'

/**
 * Answers 404 to a request with headers for miniflare, as far as they change it: miniflare removes those that name another
 * URL or Worker, so the origin tells. A web page whose name leads to this machine would otherwise pass the check of the host.
 */
export default {
  ...worker,
  fetch(request, ...rest) {
    const { headers, url } = request
    const isChanged =
      URL.parse(`http://${headers.get('Host')}`)?.origin !== new URL(url).origin ||
      [...headers.keys()].some((name) => name.startsWith('mf-'))
    return isChanged || !worker.fetch ? new Response(null, { status: 404 }) : worker.fetch(request, ...rest)
  },
}
