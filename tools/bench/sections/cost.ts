import pg from 'pg'
import { type Comparison, type Competitor, walk, withServers } from '../compare.ts'
import { byHand, service, servicePages } from '../contenders.ts'
import { cpuOf, cpuUsed } from '../cpu.ts'
import { load } from '../http.ts'
import { rowBytes } from '../million.ts'
import { type PageCost, pageCost } from '../page-cost.ts'
import { dollars } from '../prices.ts'
import { figure, type Section } from '../section.ts'
import { alternate } from '../timing.ts'
import { runWorker, startService } from '../workerd.ts'

const CONNECTIONS = 4
const LIMIT = 'the limit: a plain scan in PostgreSQL, a constant from workerd'

/** What a page of the service costs, compared with the least possible and with a server written by hand. */
export const section: Section = (setting) =>
  withServers(setting, [service, byHand], async (comparison) => {
    const { client, data, competitors } = comparison
    const seconds = Math.max(0.5, setting.sized(2))
    const rounds = Math.max(3, Math.round(setting.sized(9)))
    const bytesFromNeon = await onePageFromNeon(comparison)
    const limit = await startLimit(comparison)
    const run = { client, redisUrl: data.redisUrl, connections: CONNECTIONS, seconds }
    setting.report(`${rounds} rounds`)
    const measured = await alternate<PageCost>(
      {
        [LIMIT]: () => limit.measure(seconds),
        ...Object.fromEntries(competitors.map((each) => [each.name, () => pageCost(run, each, each.first)])),
      },
      rounds,
    ).finally(limit.close)
    const base = measured(LIMIT, cpu)
    const ratios = (name: string) =>
      [cpu, worker, postgres, redis].map((value) => measured(name, value) / base)
    const row = await rowBytes(client, 'citation_share')
    const usage = {
      requests: 1,
      workerCpuMs: measured(service.name, worker),
      postgresCpuMs: measured(service.name, postgres),
      transferredBytes: bytesFromNeon,
      redisCommands: measured(service.name, ({ commands }) => commands),
      storedBytes: Math.round(row.table + row.index),
    }
    return [
      {
        title: 'CPU of a page of 1000 rows',
        columns: ['server', 'together', 'server', 'PostgreSQL', 'Redis'],
        rows: [LIMIT, service.name, byHand.name].map((name) => [name, ...ratios(name)]),
        note: `1 = the limit: ${figure(base)} ms. Medians of ${rounds} alternating rounds of ${figure(seconds)} s at ${CONNECTIONS} connections. CPU is what Linux's scheduler counts for the processes, without the emulator and the load generator. Only the service checks key, plan, brand and budget. Every page was compared.`,
      },
      dollars(usage),
    ]
  })

const cpu = ({ server, postgres, redis }: PageCost) => server + postgres + redis
const worker = ({ server }: PageCost) => server
const postgres = ({ postgres }: PageCost) => postgres
const redis = ({ redis }: PageCost) => redis

/** Returns the bytes that Neon sends for the first page. */
async function onePageFromNeon({ data }: Comparison): Promise<number> {
  const started = await startService(data.databaseUrl, data.redisUrl)
  try {
    await walk({ url: started.url, ...servicePages(data) }).next()
    return started.neon.receivedBytes
  } finally {
    await started.close()
  }
}

/** The least that a page can cost: its rows read by a prepared statement, and as many constant bytes from a Worker. */
async function startLimit({ data, competitors }: Comparison) {
  const { length } = firstOf(competitors).first.body
  const constant = await runWorker(
    `const page = 'x'.repeat(${length}); export default { fetch: () => new Response(page) }`,
  )
  const client = new pg.Client(data.databaseUrl)
  await client.connect()
  const backend = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const pids = backend.rows.map(({ pid }) => pid)
  const scan = {
    name: 'scan',
    text: `select date, url, domain, is_owned, citations, owned_citations from daily.citation_share
      where brand_id = $1 order by brand_id, daily.citation_share.date, url_hash limit 1001`,
    values: [data.brandId],
    rowMode: 'array',
  }
  return {
    measure: async (seconds: number): Promise<PageCost> => {
      const [workerBefore, before] = [cpuOf([constant.pid]), cpuOf(pids)]
      const { url } = constant
      const page = { request: () => ({ path: '/' }), body: Buffer.alloc(length, 'x') }
      const { pagesPerSecond, latencies } = await load({ url, ...page, connections: CONNECTIONS, seconds })
      const scans = 100
      for (let done = 0; done < scans; done += 1) await client.query(scan)
      return {
        server: cpuUsed(workerBefore, cpuOf([constant.pid])) / latencies.length,
        postgres: cpuUsed(before, cpuOf(pids)) / scans,
        redis: 0,
        commands: 0,
        pagesPerSecond,
      }
    },
    close: async () => {
      await constant.close()
      await client.end()
    },
  }
}

function firstOf([first]: readonly Competitor[]): Competitor {
  if (first === undefined) throw new Error('No server runs')
  return first
}
