import { load } from '../http.ts'
import { withService } from '../pages.ts'
import { figure, type Section } from '../section.ts'
import { alternate, quantile } from '../timing.ts'
import { runWorker } from '../workerd.ts'

const CONNECTIONS = [1, 8, 64]
const ROUNDS = 3
// Long enough for the first request of each connection to be a small part of all.
const SECONDS = 8
const CONSTANT = 'a constant of the same size from workerd'
const SERVICE = 'the service'

type Measure = { readonly rate: number; readonly p50: number; readonly p99: number }

const rate = ({ rate }: Measure) => rate
const p50 = ({ p50 }: Measure) => p50
const tail = ({ p50, p99 }: Measure) => p99 / p50

/** How the latency of the first page grows with the number of connections. */
export const section: Section = (setting) =>
  withService(setting, async ({ service, first: { request, body } }) => {
    const worker = await runWorker(
      `const page = 'x'.repeat(${body.length}); export default { fetch: () => new Response(page) }`,
    )
    const servers = [
      { name: SERVICE, url: service.url, ...request(), body },
      { name: CONSTANT, url: worker.url, path: '/', body: Buffer.alloc(body.length, 'x') },
    ]
    const runs = servers.flatMap((server) => CONNECTIONS.map((connections) => ({ ...server, connections })))
    setting.report(`${ROUNDS} rounds`)
    const measured = await alternate<Measure>(
      Object.fromEntries(
        runs.map((run) => [
          `${run.name} ${run.connections}`,
          async () => {
            const latencies = await load({ ...run, seconds: SECONDS })
            return {
              rate: latencies.length / SECONDS,
              p50: quantile(latencies, 0.5),
              p99: quantile(latencies, 0.99),
            }
          },
        ]),
      ),
      ROUNDS,
    ).finally(worker.close)
    return [
      {
        title: 'The first page at growing numbers of connections',
        columns: ['server', 'connections', 'median', 'p99 to median', 'pages per second'],
        rows: runs.map(({ name, connections }) => [
          name,
          connections,
          measured(`${name} ${connections}`, p50) / measured(`${name} 1`, p50),
          measured(`${name} ${connections}`, tail),
          measured(`${name} ${connections}`, rate) / measured(`${name} 1`, rate),
        ]),
        note: `Median and pages per second: 1 = the same server at one connection (${servers.map(({ name }) => `${name}: ${figure(measured(`${name} 1`, p50))} ms`).join('; ')}). Medians of ${ROUNDS} alternating rounds of ${SECONDS} s, which include the opening of the connections. The load generator is a process of its own, but all servers share the machine.`,
      },
    ]
  })
