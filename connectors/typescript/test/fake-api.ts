import { type ClientOptions, ExportApi } from '../src/index.ts'

/** What a fake `fetch` does with a request. */
export type Answer = (init: RequestInit) => Response | Promise<Response>

/** The window of the tests, and what the service says about it. */
export const WINDOW = { brandId: '11111111-1111-1111-1111-111111111111', fromDate: '2026-10-01' }
export const META = { ...WINDOW, toDate: '2026-10-31T23:59:59.999Z', plan: 'pro' }

/** A page; the last one without a cursor of the next. */
export function page(
  data: readonly unknown[],
  nextCursor: string | null = null,
  headers: Record<string, string> = {},
): Answer {
  const pagination = { pageSize: 1000, hasMore: nextCursor !== null, nextCursor }
  return () => Response.json({ data, pagination, meta: META }, { headers })
}

/** An error of the service; `retryAfter` are seconds. */
export function failure(status: number, retryAfter?: number): Answer {
  const wait = retryAfter !== undefined && { 'Retry-After': String(retryAfter) }
  const headers = { 'X-Request-Id': 'request-1', ...wait }
  return () => Response.json({ error: `Message of ${status}.` }, { status, headers })
}

/** A connection that closes before the response. */
export const dropped: Answer = () => {
  const cause = new AggregateError([new Error('connect ECONNREFUSED 127.0.0.1:1')])
  return Promise.reject(new TypeError('fetch failed', { cause }))
}

/** A response that ends in its middle, without an error of `fetch`. */
export const cut: Answer = () =>
  new Response('{"data":[{"date":', { headers: { 'Content-Type': 'application/json' } })

/** No response until the request is aborted. */
export const hanging: Answer = ({ signal }) =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))

export type FakeRequest = { readonly url: URL; readonly init: RequestInit; readonly atMs: number }

/** Returns a client whose requests get these answers in turn, and the requests that it has sent. */
export function fakeApi(answers: readonly Answer[], options: Partial<ClientOptions> = {}) {
  const requests: FakeRequest[] = []
  const fetch: ClientOptions['fetch'] = async (url, init = {}) => {
    requests.push({ url: new URL(String(url)), init, atMs: performance.now() })
    const answer = answers[requests.length - 1]
    if (answer === undefined) throw new Error('There is no answer to this request')
    return answer(init)
  }
  const api = new ExportApi({ baseUrl: 'https://service.example', apiKey: 'svc_live_1', fetch, ...options })
  return { api, requests }
}

/** Returns all that an iteration yields. */
export async function toArray<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}
