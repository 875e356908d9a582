import pg from 'pg'
import { cpuOf, cpuUsed } from '../cpu.ts'
import { load } from '../http.ts'
import { rowBytes } from '../million.ts'
import { type PageCost, pageCost } from '../page-cost.ts'
import { type RunningService, walk, withService } from '../pages.ts'
import { dollars } from '../prices.ts'
import { figure, type Section } from '../section.ts'
import { alternate } from '../timing.ts'
import { runWorker } from '../workerd.ts'

const CONNECTIONS = 4
const SCANS = 100
const LIMIT = 'the limit: a plain scan in PostgreSQL, a constant from workerd'
const SERVICE = 'the service: key, plan, brand, budget and page'

/** What a page of the service costs, compared with the least possible. */
export const section: Section = (setting) =>
  withService(setting, async (running) => {
    const { client, data, service, first } = running
    const run = { connections: CONNECTIONS, seconds: Math.max(0.5, setting.sized(2)) }
    const rounds = Math.max(3, Math.round(setting.sized(9)))
    await walk(service.url, data).next()
    const transferredBytes = service.neon.receivedBytes
    const limit = await startLimit(running, run)
    setting.report(`${rounds} rounds`)
    const measured = await alternate<PageCost>(
      { [LIMIT]: limit.measure, [SERVICE]: () => pageCost(running, first, run) },
      rounds,
    ).finally(limit.close)
    const parts = [cpu, worker, postgres, redis]
    const base = measured(LIMIT, cpu)
    const row = await rowBytes(client, 'citation_share')
    const usage = {
      requests: 1,
      workerCpuMs: measured(SERVICE, worker),
      postgresCpuMs: measured(SERVICE, postgres),
      transferredBytes,
      redisCommands: measured(SERVICE, ({ commands }) => commands),
      storedBytes: Math.round(row.table + row.index),
    }
    return [
      {
        title: 'CPU of a page of 1000 rows',
        columns: ['', 'together', 'workerd', 'PostgreSQL', 'Redis'],
        rows: [LIMIT, SERVICE].map((name) => [name, ...parts.map((part) => measured(name, part) / base)]),
        note: `1 = the limit: ${figure(base)} ms. Medians of ${rounds} alternating rounds of ${figure(run.seconds)} s at ${CONNECTIONS} connections. CPU is what Linux's scheduler counts for the processes, without the emulator and the load generator. Every page was compared.`,
      },
      dollars(usage),
    ]
  })

const cpu = ({ worker, postgres, redis }: PageCost) => worker + postgres + redis
const worker = ({ worker }: PageCost) => worker
const postgres = ({ postgres }: PageCost) => postgres
const redis = ({ redis }: PageCost) => redis

/** The least that a page can cost: its rows read by a prepared statement, and as many constant bytes from a Worker. */
async function startLimit(
  { data, first: { body } }: RunningService,
  run: { connections: number; seconds: number },
) {
  const { url, pid, close } = await runWorker(
    `const page = 'x'.repeat(${body.length}); export default { fetch: () => new Response(page) }`,
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
  const constant = { path: '/', body: Buffer.alloc(body.length, 'x') }
  return {
    measure: async (): Promise<PageCost> => {
      const [workerBefore, before] = [cpuOf([pid]), cpuOf(pids)]
      const { length: pages } = await load({ url, ...constant, ...run })
      for (let done = 0; done < SCANS; done += 1) await client.query(scan)
      return {
        worker: cpuUsed(workerBefore, cpuOf([pid])) / pages,
        postgres: cpuUsed(before, cpuOf(pids)) / SCANS,
        redis: 0,
        commands: 0,
      }
    },
    close: async () => {
      await close()
      await client.end()
    },
  }
}
