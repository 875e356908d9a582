import type { Pool } from 'undici'
import type { Emulator } from '../../emulator/start.ts'
import { BUDGET } from '../../lib/rate-limit.ts'
import { at, rowsIn } from './contenders/contender.ts'
import { type Ask, connect } from './drive.ts'

/** Requests with which a caller spends its budget at once. */
const SIDE_BY_SIDE = 32

/** A request, and what has to come back: a status, and of a page its rows. */
export type Kind = {
  readonly name: string
  readonly ask: Ask
  readonly status: number
  readonly rows: number
}

/** One request and its trips; a caller whose minute has ended is first brought over its budget again. */
export async function observe(
  emulator: Emulator,
  kind: Kind,
  tries = 3,
): Promise<{ ms: number; neon: number; upstash: number }> {
  const pool = connect(emulator.url, SIDE_BY_SIDE)
  try {
    // The connection is made before the clock starts.
    await send(pool, { path: '/', headers: () => ({}) })
    const before = emulator.subrequests()
    const { ms, status, rows } = await send(pool, kind.ask)
    const { neon, upstash } = emulator.subrequests()
    if (status === kind.status && rows === kind.rows) {
      return { ms, neon: neon - before.neon, upstash: upstash - before.upstash }
    }
    if (kind.status !== 429 || tries === 0) throw new Error(`${kind.name}: ${status} with ${rows} rows`)
    await Promise.all(Array.from({ length: BUDGET.requests + 1 }, () => send(pool, kind.ask)))
  } finally {
    await pool.close()
  }
  return observe(emulator, kind, tries - 1)
}

async function send(
  pool: Pool,
  { path, headers }: Ask,
): Promise<{ ms: number; status: number; rows: number }> {
  const start = performance.now()
  const { statusCode, body } = await pool.request({ path, method: 'GET', headers: headers() })
  const text = await body.text()
  const ms = performance.now() - start
  return {
    ms,
    status: statusCode,
    rows: statusCode === 200 ? rowsIn(at(JSON.parse(text), 'data')).length : 0,
  }
}
