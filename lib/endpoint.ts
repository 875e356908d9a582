import { type Context, Hono } from 'hono'
import { type Env, parseEnv } from './env.ts'
import { Refusal, refuse } from './errors.ts'
import { budgetHeaders, spend } from './rate-limit.ts'

/** Where every path starts (specification, section 9). */
export const BASE = '/api/export/v1'

/** One request past the rate budget: what an endpoint needs to answer it. */
export type Admitted = { readonly context: Context; readonly env: Env; readonly now: Date }

export type Endpoint = {
  /** Path below {@link BASE}. */
  readonly path: string
  /** The gates after the rate budget, and the answer; refusals are thrown. */
  readonly answer: (request: Admitted) => Promise<Response>
}

/** A Worker that answers one path: the path, the method and the rate budget first, then what is the endpoint's own. */
export function endpoint({ path, answer }: Endpoint): Hono {
  const app = new Hono()
  app.get(BASE + path, async (context) => {
    const now = new Date()
    const env = parseEnv(context.env)
    const budget = await spend(context, env, now)
    for (const [name, value] of Object.entries(budgetHeaders(budget))) context.header(name, value)
    if (budget?.passes === false) {
      throw refuse('budget', { 'Retry-After': String(budget.resetSeconds) })
    }
    return answer({ context, env, now })
  })
  app.all(BASE + path, () => {
    throw refuse('method', { Allow: 'GET, HEAD' })
  })
  app.notFound(() => {
    throw refuse('unknownPath')
  })
  app.onError(answerRefusal)
  return app
}

/** The one place where an error becomes an answer: `{"error": "…"}`, the catalogue's sentence and nothing else. */
function answerRefusal(error: unknown, context: Context): Response {
  const refusal = error instanceof Refusal ? error : refuse('internal')
  if (refusal !== error) console.error(JSON.stringify({ event: 'failed', ...locate(error) }))
  return new Response(JSON.stringify({ error: refusal.message }), {
    status: refusal.status,
    headers: {
      ...Object.fromEntries(context.res.headers),
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      ...refusal.headers,
    },
  })
}

/** Where an unforeseen error came from. */
function locate(error: unknown): Record<string, unknown> {
  return error instanceof Error
    ? { kind: error.name, message: error.message, stack: error.stack }
    : { kind: typeof error }
}
