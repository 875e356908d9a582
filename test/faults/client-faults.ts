import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { type ProxyFault, startFaultProxy } from '../../connectors/certify/fault-proxy.ts'
import { startLocalServer } from '../../connectors/certify/local-server.ts'

const encode = (text: string): string =>
  text.replace(/[!-~]/g, (each) => `%${Buffer.from(each).toString('hex')}`)

/** Repeats the key in each spelling, once more where a cut at 1,000 characters would halve it, then all headers. */
function repeat({ headers }: IncomingMessage): string {
  const bearer = String(headers.authorization)
  const spelled = [bearer, bearer.toUpperCase(), encode(bearer), encode(bearer.toUpperCase())]
  const start = `\u001b]0;${spelled.join('\u0007\n')} `.padEnd(960, '.')
  const all = JSON.stringify(headers)
  return start + headers['x-api-key'] + all.repeat(Math.ceil(400_000 / all.length))
}

/** Answers with a status, as a gateway that repeats the headers of the request for 400 kB, and the key in three headers. */
const answer =
  (status: number, headers: Readonly<Record<string, string>> = {}): RequestListener =>
  (asked, response) => {
    const key = String(asked.headers['x-api-key'])
    const own = { 'Content-Type': 'application/json', 'X-Request-Id': key, ...headers }
    response.writeHead(status, `Rejected ${key}`, own).end(JSON.stringify({ error: repeat(asked) }))
  }

const page: RequestListener = (asked, response) =>
  response.writeHead(200, { 'Content-Type': 'text/html' }).end(`<h1>${repeat(asked)}</h1>`)

/** More bytes than any client takes for a page, and more requests than any sends without rows. */
const MOST_BYTES = 2 ** 28
const MOST_REQUESTS = 100

/** Sends blanks until the client closes the connection, or `giveUp` is called. */
async function sendEndlessly(response: ServerResponse, giveUp: () => void): Promise<void> {
  response.writeHead(200, { 'Content-Type': 'application/json' })
  const blanks = Buffer.alloc(2 ** 20, ' ')
  for (let sent = 0; !response.destroyed; sent += blanks.length) {
    if (sent > MOST_BYTES) return giveUp()
    if (!response.write(blanks)) await drained(response)
  }
}

const drained = (response: ServerResponse): Promise<unknown> =>
  new Promise((resolve) => response.once('drain', resolve).once('close', resolve))

/** A page without rows that another follows, whose cursor is always the same. */
const endlessPages: RequestListener = ({ url = '' }, response) => {
  const data = url.includes('/brands') ? [{ id: '11111111-1111-4111-8111-111111111111', name: 'Acme' }] : []
  const pagination = { pageSize: 1000, hasMore: true, nextCursor: 'dAgain' }
  const meta = { brandId: null, fromDate: '2026-10-01T00:00:00.000Z', plan: 'pro' }
  response.writeHead(200, { 'Content-Type': 'application/json' })
  response.end(JSON.stringify({ data, pagination, meta }))
}

/** What a client meets, by the name of its column in connectors/README.md. */
export const CLIENT_FAULTS = {
  '429, 503, cut body, garbage': 'passing',
  '503 always': answer(503, { 'Retry-After': '0' }),
  'wait of 301 s': answer(503, { 'Retry-After': '301' }),
  redirect: 'redirect',
  'endless body': 'endless',
  'endless pages': endlessPages,
  'message with the key': answer(403),
} as const

export type ClientFault = keyof typeof CLIENT_FAULTS

/** Faults of the first and of the second address that a client requests. After them, it must wait so many seconds at least. */
const PASSING: readonly (readonly (readonly [fault: ProxyFault, seconds: number])[])[] = [
  [
    [answer(429, { 'Retry-After': '1' }), 1],
    [answer(503), 0],
    ['cut', 0],
  ],
  [
    [answer(429), 12],
    [page, 0],
  ],
]

/** A timer may fire this much before its time. */
const TOLERANCE_MS = 50

/**
 * Starts a proxy in front of the service whose responses have a fault. `seen` is what a client did: how many requests it
 * sent, those that came before their time, and those that another host received. `signal` aborts when it will not end.
 */
export async function startClientFault(name: ClientFault, service: string) {
  const seen = { requests: 0, early: [] as string[], elsewhere: [] as string[] }
  const controller = new AbortController()
  const other = await startLocalServer((asked, response) => {
    seen.elsewhere.push(String(asked.url))
    answer(403)(asked, response)
  })
  const targets = new Map<string, { met: number; notBefore: number }>()
  const fault = CLIENT_FAULTS[name]

  const passing = (target: string): ProxyFault | null => {
    const { met, notBefore } = targets.get(target) ?? { met: 0, notBefore: 0 }
    if (performance.now() < notBefore - TOLERANCE_MS) seen.early.push(target)
    const faults = PASSING[targets.has(target) ? [...targets.keys()].indexOf(target) : targets.size] ?? []
    const [next = null, seconds = 0] = faults[met] ?? []
    targets.set(target, { met: met + 1, notBefore: performance.now() + seconds * 1000 })
    return next
  }

  const proxy = await startFaultProxy(service, ({ url = '', headers }) => {
    seen.requests += 1
    if (seen.requests > MOST_REQUESTS) controller.abort()
    if (fault === 'passing') return passing(url)
    if (fault === 'endless') return (_, response) => sendEndlessly(response, () => controller.abort())
    if (fault !== 'redirect') return fault
    const key = String(headers['x-api-key'])
    return answer(302, { Location: `${other.url.replace('127.0.0.1', 'localhost')}/?key=${key}` })
  })
  return {
    url: proxy.url,
    seen,
    signal: controller.signal,
    close: () => Promise.all([proxy.close(), other.close()]),
  }
}
