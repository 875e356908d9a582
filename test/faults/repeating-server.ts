import type { IncomingHttpHeaders } from 'node:http'
import { startLocalServer } from '../../connectors/certify/local-server.ts'

/** How a faulty gateway answers each request. */
export const REPEATING = ['400 as JSON', '400 as a page', '503', '302'] as const

const encode = (text: string): string =>
  text.replace(/[!-~]/g, (each) => `%${Buffer.from(each).toString('hex')}`)

/** Repeats the key in each spelling, once more where a cut at 1,000 characters would halve it, then all headers. */
function repeat(headers: IncomingHttpHeaders): string {
  const bearer = String(headers.authorization)
  const spelled = [bearer, bearer.toUpperCase(), encode(bearer), encode(bearer.toUpperCase())]
  const start = `\u001b]0;${spelled.join('\u0007\n')} `.padEnd(960, '.')
  const all = JSON.stringify(headers)
  return start + headers['x-api-key'] + all.repeat(Math.ceil(400_000 / all.length))
}

/**
 * Starts a gateway whose answers repeat the headers of the request for 400 kB, and the key in the reason, a header and
 * the address of a redirect to another host, which answers in the same way.
 */
export async function startRepeatingServer(fault: (typeof REPEATING)[number]) {
  const start = (answer: typeof fault, location = '') =>
    startLocalServer(({ headers }, response) => {
      const [key, text] = [String(headers['x-api-key']), repeat(headers)]
      const isPage = answer === '400 as a page'
      response.writeHead(Number.parseInt(answer, 10), `Rejected ${key}`, {
        'Content-Type': isPage ? 'text/html' : 'application/json',
        'Retry-After': '1',
        'X-Request-Id': key,
        ...(location && { Location: `${location}/?key=${key}` }),
      })
      response.end(isPage ? `<h1>${text}</h1>` : JSON.stringify({ error: text }))
    })
  const elsewhere = await start('400 as JSON')
  const server = await start(fault, fault === '302' ? elsewhere.url.replace('127.0.0.1', 'localhost') : '')
  return { url: server.url, close: () => Promise.all([server.close(), elsewhere.close()]) }
}
