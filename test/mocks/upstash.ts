import { vi } from 'vitest'
import { silence } from './neon.ts'

type Answer = (init: RequestInit) => Response | Promise<Response>

/** Bindings of a Worker whose counter is answered by {@link counterAnswers}, and whose outer limit is never reached. */
export const bindings = () => ({
  DATABASE_URL: 'postgresql://me:secret@db.example/x',
  UPSTASH_REDIS_REST_URL: 'https://counter.example',
  UPSTASH_REDIS_REST_TOKEN: 'token',
  CURSOR_SECRET: 'secret',
  OUTER_LIMITER: { limit: async () => ({ success: true }) },
})

/** Answers every request of Upstash's client in this process; returns the list of requests. */
export function counterAnswers(answer: Answer): RequestInit[] {
  const requests: RequestInit[] = []
  vi.stubGlobal('fetch', async (_url: string, init: RequestInit = {}) => {
    requests.push(init)
    return answer(init)
  })
  return requests
}

/** A bucket from which the client has asked for so many tokens, this request included, and that was not refilled. */
export const counted =
  (requests: number): Answer =>
  () =>
    Response.json({ result: [Math.max(-1, 100 - requests), Date.now() + 3000, 100] })

export const silent: Answer = (init) => silence({ signal: init.signal ?? null })
