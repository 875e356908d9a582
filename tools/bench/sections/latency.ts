import { randomUUID } from 'node:crypto'
import type { Pool } from 'undici'
import { type Emulator, startEmulator } from '../../../emulator/start.ts'
import { mintApiKey } from '../../../lib/access/api-key.ts'
import { BUDGET } from '../../../lib/rate-limit.ts'
import { connect, type HttpRequest } from '../http.ts'
import { walk, withService } from '../pages.ts'
import { figure, type Section } from '../section.ts'
import { alternate } from '../timing.ts'

const LATENCY_MS = 200

type Kind = { readonly name: string; readonly status: number; readonly request: () => HttpRequest }
type Measure = { readonly ms: number; readonly neon: number; readonly upstash: number }

/** How often a request goes to Neon and Upstash, and what that costs when both are 200 ms away. */
export const section: Section = (setting) =>
  withService(setting, async ({ data, depth, first, deep }) => {
    const from = (key: string, client = randomUUID()) => ({
      ...first.request(),
      headers: { 'X-API-Key': key, 'User-Agent': client },
    })
    const overBudget = randomUUID()
    const kinds: readonly Kind[] = [
      { name: 'first page', status: 200, request: first.request },
      { name: `page ${figure(depth)} rows deep`, status: 200, request: deep.request },
      { name: 'unknown key (401)', status: 401, request: () => from(mintApiKey()) },
      { name: 'client over the rate limit (429)', status: 429, request: () => from(data.key, overBudget) },
    ]
    const far = await startEmulator({
      ...data,
      host: '127.0.0.1',
      port: 0,
      crons: false,
      latencyMs: LATENCY_MS,
    })
    try {
      // The first request of an isolate is slower than the others.
      await walk(far.url, data).next()
      setting.report('requests')
      const rounds = Math.max(5, Math.round(setting.sized(20)))
      const measured = await alternate<Measure>(
        Object.fromEntries(kinds.map((kind) => [kind.name, () => observe(far, kind)])),
        rounds,
      )
      return [
        {
          title: `Neon and Upstash ${LATENCY_MS} ms away`,
          columns: ['request', 'requests to Neon', 'requests to Upstash', 'time'],
          rows: kinds.map(({ name }) => [
            name,
            measured(name, ({ neon }) => neon),
            measured(name, ({ upstash }) => upstash),
            measured(name, ({ ms }) => ms / LATENCY_MS),
          ]),
          note: `1 = ${LATENCY_MS} ms, one round trip. Goal: below 1.25. Medians of ${rounds} alternating requests.`,
        },
      ]
    } finally {
      await far.close()
    }
  })

/** Sends one request. A client that should be over its budget first spends it again when it was refilled. */
async function observe(emulator: Emulator, kind: Kind): Promise<Measure> {
  const pool = connect(emulator.url, 32)
  try {
    await send(pool, { path: '/' })
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const before = emulator.subrequests()
      const start = performance.now()
      const status = await send(pool, kind.request())
      const ms = performance.now() - start
      const { neon, upstash } = emulator.subrequests()
      if (status === kind.status) return { ms, neon: neon - before.neon, upstash: upstash - before.upstash }
      if (kind.status !== 429) throw new Error(`${kind.name}: status ${status}`)
      await Promise.all(Array.from({ length: BUDGET.requests + 1 }, () => send(pool, kind.request())))
    }
    throw new Error(`${kind.name}: not reached`)
  } finally {
    await pool.close()
  }
}

async function send(pool: Pool, { path, headers = {} }: HttpRequest): Promise<number> {
  const { statusCode, body } = await pool.request({ path, method: 'GET', headers })
  await body.arrayBuffer()
  return statusCode
}
