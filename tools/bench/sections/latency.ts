import { randomUUID } from 'node:crypto'
import { startEmulator } from '../../../emulator/start.ts'
import { BINDINGS } from '../../../emulator/workers/bindings.ts'
import { mintApiKey } from '../../../lib/api-key.ts'
import { PAGE_SIZE } from '../../../lib/page.ts'
import { servicePages } from '../contenders/service.ts'
import { inDatabase } from '../database.ts'
import { fillMillion, rowsAt } from '../million.ts'
import { figure } from '../print.ts'
import { inTurns, median } from '../rounds.ts'
import type { Section } from '../section.ts'
import { tenant } from '../tenant.ts'
import { type Kind, observe } from '../trips.ts'

const LATENCY_MS = 200
const ROUNDS = 20

/** How often a request crosses to Neon and Upstash, and how long it takes when each crossing takes 200 ms. */
export const section: Section = ({ serverUrl, sized, tell }) =>
  inDatabase(serverUrl, async (client, databaseUrl) => {
    tell('daily rows')
    const whose = await tenant(client)
    const { brandId, depth } = await fillMillion(client, whose, sized)
    const { before } = await rowsAt(client, brandId, depth)
    if (before === undefined) throw new Error('There is no row ahead of the deep page')
    const { first, deep } = await servicePages({ ...whose, brandId, before })
    const caller = { 'X-API-Key': whose.key, 'User-Agent': randomUUID() }
    const unknown = mintApiKey()
    const kinds: readonly Kind[] = [
      { name: 'first page', ask: first, status: 200, rows: PAGE_SIZE },
      { name: `page ${figure(depth)} rows deep`, ask: deep, status: 200, rows: PAGE_SIZE },
      {
        name: 'unknown key (401)',
        ask: { path: first.path, headers: () => ({ 'X-API-Key': unknown, 'User-Agent': randomUUID() }) },
        status: 401,
        rows: 0,
      },
      {
        name: 'caller over its budget (429)',
        ask: { path: first.path, headers: () => caller },
        status: 429,
        rows: 0,
      },
    ]

    const start = (latencyMs: number) =>
      startEmulator({
        host: '127.0.0.1',
        port: 0,
        databaseUrl,
        redisUrl: process.env.REDIS_URL,
        crons: false,
        latencyMs,
        vars: { CURSOR_SECRET: BINDINGS.CURSOR_SECRET },
      })
    const near = await start(0)
    const far = await start(LATENCY_MS)
    try {
      tell('requests')
      const rounds = Math.max(5, Math.round(sized(ROUNDS)))
      const measured = await inTurns(
        Object.fromEntries(
          kinds.flatMap((kind) => [
            [`near ${kind.name}`, () => observe(near, kind)] as const,
            [`far ${kind.name}`, () => observe(far, kind)] as const,
          ]),
        ),
        rounds,
      )
      const middle = (where: string, { name }: Kind, of: 'ms' | 'neon' | 'upstash') =>
        median(measured(`${where} ${name}`).map((measure) => measure[of]))
      return [
        {
          title: `What distance costs: Neon and Upstash ${LATENCY_MS} ms away`,
          columns: [
            'request',
            'trips to Neon',
            'trips to Upstash',
            'time',
            'of it: the distance',
            'time with both next door',
          ],
          rows: kinds.map((kind) => [
            kind.name,
            middle('far', kind, 'neon'),
            middle('far', kind, 'upstash'),
            middle('far', kind, 'ms') / LATENCY_MS,
            (middle('far', kind, 'ms') - middle('near', kind, 'ms')) / LATENCY_MS,
            middle('near', kind, 'ms') / LATENCY_MS,
          ]),
          note: `Time: 1 = ${LATENCY_MS} ms, one trip; goal: less than 1.25. Medians of ${rounds} alternating requests over one connection; trips are counted by the emulator, and each page had ${figure(PAGE_SIZE)} rows. A caller is refused without asking Neon once the Worker has seen it refused in this minute.`,
        },
      ]
    } finally {
      await near.close()
      await far.close()
    }
  })
