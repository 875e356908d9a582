import { byHand } from '../contenders/by-hand.ts'
import { service } from '../contenders/service.ts'
import { inContest } from '../contest.ts'
import { drive } from '../drive.ts'
import { figure } from '../print.ts'
import { inTurns, median, quantile } from '../rounds.ts'
import type { Section } from '../section.ts'

const CONNECTIONS = [1, 8, 64]

type Measure = { readonly rate: number; readonly p50: number; readonly p99: number }

/** How waiting grows with the connections that ask at once, beside a server written by hand. */
export const section: Section = (setting) =>
  inContest(setting, [service, byHand], async ({ entrants, failed }) => {
    const seconds = Math.max(1, setting.sized(4))
    const rounds = Math.max(2, Math.round(setting.sized(5)))
    const measured = await inTurns<Measure>(
      Object.fromEntries(
        entrants.flatMap(({ name, running, first }) =>
          CONNECTIONS.map((connections) => [
            `${name} ${connections}`,
            async () => {
              const driven = await drive({ url: running.server.url, ...first, connections, seconds })
              return {
                rate: driven.pagesPerSecond,
                p50: quantile(driven.latencies, 0.5),
                p99: quantile(driven.latencies, 0.99),
              }
            },
          ]),
        ),
      ),
      rounds,
    )
    const middle = (name: string, connections: number, of: keyof Measure) =>
      median(measured(`${name} ${connections}`).map((measure) => measure[of]))
    return [
      {
        title: 'The first page at growing numbers of connections',
        columns: ['server', 'connections', 'p50', 'p99', 'p99 / p50', 'pages a second'],
        rows: entrants.flatMap(({ name }) =>
          CONNECTIONS.map((connections) => [
            name,
            connections,
            middle(name, connections, 'p50') / middle(name, 1, 'p50'),
            middle(name, connections, 'p99') / middle(name, 1, 'p50'),
            middle(name, connections, 'p99') / middle(name, connections, 'p50'),
            middle(name, connections, 'rate') / middle(name, 1, 'rate'),
          ]),
        ),
        note: [
          `1 = the same server at one connection (${entrants.map(({ name }) => `${name}: p50 ${figure(middle(name, 1, 'p50'))} ms, ${figure(middle(name, 1, 'rate'))} pages a second`).join('; ')}).`,
          `Each connection sends its next request when the last one is answered. Medians of ${rounds} alternating rounds of ${figure(seconds)} s; every body was the page’s, byte for byte. Load generator, servers, the emulator and PostgreSQL share one machine: once it is busy, waiting grows as the connections do. Both servers have 20 connections to PostgreSQL.`,
          ...failed.map(({ name, reason }) => `${name} failed: ${reason}.`),
        ].join(' '),
      },
    ]
  })
