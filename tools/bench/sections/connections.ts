import { withServers } from '../compare.ts'
import { byHand, service } from '../contenders.ts'
import { load } from '../http.ts'
import { figure, type Section } from '../section.ts'
import { alternate, quantile } from '../timing.ts'

const CONNECTIONS = [1, 8, 64]

type Measure = { readonly rate: number; readonly p50: number; readonly p99: number }

/** How latency grows with the number of connections. */
export const section: Section = (setting) =>
  withServers(setting, [service, byHand], async ({ competitors }) => {
    const seconds = Math.max(1, setting.sized(4))
    const rounds = Math.max(2, Math.round(setting.sized(5)))
    const runs = competitors.flatMap(({ name, server, first }) =>
      CONNECTIONS.map((connections) => ({ name, connections, url: server.url, first })),
    )
    const measured = await alternate<Measure>(
      Object.fromEntries(
        runs.map(({ name, connections, url, first }) => [
          `${name} ${connections}`,
          async () => {
            const { pagesPerSecond, latencies } = await load({ url, ...first, connections, seconds })
            return { rate: pagesPerSecond, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) }
          },
        ]),
      ),
      rounds,
    )
    const p50 = ({ p50 }: Measure) => p50
    const rate = ({ rate }: Measure) => rate
    return [
      {
        title: 'The first page at growing numbers of connections',
        columns: ['server', 'connections', 'p50', 'p99', 'pages per second'],
        rows: runs.map(({ name, connections }) => [
          name,
          connections,
          measured(`${name} ${connections}`, p50) / measured(`${name} 1`, p50),
          measured(`${name} ${connections}`, ({ p99 }) => p99) / measured(`${name} 1`, p50),
          measured(`${name} ${connections}`, rate) / measured(`${name} 1`, rate),
        ]),
        note: `1 = the same server's p50 and rate at one connection (${competitors.map(({ name }) => `${name}: ${figure(measured(`${name} 1`, p50))} ms, ${figure(measured(`${name} 1`, rate))} pages per second`).join('; ')}). Medians of ${rounds} alternating rounds of ${figure(seconds)} s. Load generator, servers, emulator and PostgreSQL share one machine: once it is busy, latency grows with the connections.`,
      },
    ]
  })
