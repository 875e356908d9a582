import { randomUUID } from 'node:crypto'
import type { ClientBase } from 'pg'
import { UsageError } from '../../../drizzle/db/connect.ts'
import { CitationShareRow } from '../../../functions/citation-share.ts'
import { columnsOf } from '../../../lib/row.ts'
import { cpuOf, spent } from '../cpu.ts'
import { inDatabase } from '../database.ts'
import { type Ask, connect, fetchBody } from '../drive.ts'
import { FIRST_DAY, fillMillion, rowsAt } from '../million.ts'
import { pgbench } from '../pgbench.ts'
import { figure } from '../print.ts'
import { inTurns, median } from '../rounds.ts'
import type { Section, Setting } from '../section.ts'
import { statements } from '../statements.ts'
import { tenant } from '../tenant.ts'
import { ROWS } from '../way.ts'
import { SERVICE, startWays, type Workers } from '../workerd.ts'

const CONNECTIONS = 4
const SCAN = 'plain scan'

/** What one page costs, in milliseconds: Postgres executing and planning, and the runtime's processor. */
type Cost = { readonly executing: number; readonly planning: number; readonly worker: number }

/** A full page's cost beside the least that it could be, and beside other ways to make one. */
export const section: Section = (setting) =>
  inDatabase(setting.serverUrl, async (client, databaseUrl) => {
    const redisUrl = process.env.REDIS_URL
    if (!redisUrl) throw new UsageError('This section needs a real Redis: REDIS_URL=redis://host:6379')
    setting.tell('a million daily rows')
    const whose = await tenant(client)
    const { brandId } = await fillMillion(client, whose, setting.sized)
    const counted = await statements(client)
    const { page } = await rowsAt(client, brandId, 0)
    const key = [brandId, page[0]?.date ?? '', page[0]?.url_hash ?? '']
    const path = `/api/export/v1/citation-share?brandId=${brandId}&fromDate=${FIRST_DAY}`
    // A budget of its own for each request.
    const ask = { path, headers: () => ({ 'X-API-Key': whose.key, 'User-Agent': randomUUID() }) }
    const PAGE = await pageOf(databaseUrl, redisUrl, ask)

    const workers = await startWays(databaseUrl, redisUrl, { PAGE, KEY: key })
    try {
      return await compare({ client, databaseUrl, setting, workers, ask, key, counted })
    } finally {
      await workers.close()
    }
  })

/** The service's page, which the constants then send too. */
async function pageOf(databaseUrl: string, redisUrl: string, ask: Ask): Promise<string> {
  const workers = await startWays(databaseUrl, redisUrl)
  const pool = connect(await workers.urlOf(SERVICE), 1)
  try {
    return (await fetchBody(pool, ask)).toString()
  } finally {
    await pool.close()
    await workers.close()
  }
}

type Comparison = {
  readonly client: ClientBase
  readonly databaseUrl: string
  readonly setting: Setting
  readonly workers: Workers
  readonly ask: Ask
  readonly key: readonly string[]
  readonly counted: Awaited<ReturnType<typeof statements>>
}

async function compare({ databaseUrl, setting, workers, ask, key, counted }: Comparison) {
  const pages = Math.round(setting.sized(400))
  const rounds = Math.max(3, Math.round(setting.sized(9)))
  const received = new Map<string, number>()
  const scan = `select ${columnsOf(CitationShareRow).join(', ')} ${ROWS}`.replace(
    /\$(\d)/g,
    (_, n) => `'${key[n - 1]}'`,
  )
  const measure = async (work: () => Promise<unknown>): Promise<Cost> => {
    await counted.reset()
    const before = cpuOf([workers.pid])
    await work()
    const worker = spent(before, cpuOf([workers.pid])) / pages
    const { executing, planning } = await counted.read()
    return { executing: executing / pages, planning: planning / pages, worker }
  }
  const drive = async (name: string) => {
    const pool = connect(await workers.urlOf(name), CONNECTIONS)
    const one = async () => {
      for (let n = 0; n < pages / CONNECTIONS; n += 1) {
        const body = await fetchBody(pool, ask)
        if (body.length < 100_000) throw new Error(`${name} sent no page: ${body.subarray(0, 200)}`)
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, one))
    received.set(name, workers.received())
    await pool.close()
  }

  setting.tell(`${rounds} rounds`)
  const costs = await inTurns<Cost>(
    {
      [SCAN]: () => measure(() => pgbench(databaseUrl, scan, { times: pages, connections: CONNECTIONS })),
      ...Object.fromEntries(
        [SERVICE, ...workers.names].map((name) => [name, () => measure(() => drive(name))]),
      ),
    },
    rounds,
  )
  const of = (name: string, part: keyof Cost) => median(costs(name).map((cost) => cost[part]))
  const limit = of(SCAN, 'executing') + of('constant', 'worker')
  const least = of(SCAN, 'executing') + of('trips', 'worker')
  const total = (name: string) => of(name, 'executing') + of(name, 'worker')
  const ways = workers.names.filter((name) => !['constant', 'trips'].includes(name))
  const best = Math.min(...ways.map(total))
  const row = (title: string, executing: number, planning: number, worker: number, byLimit: boolean) => [
    title,
    executing / limit,
    worker / limit,
    (executing + worker) / limit,
    byLimit ? planning / limit : '',
  ]
  const noted = `Medians of ${rounds} alternating rounds of ${pages} pages at ${CONNECTIONS} connections; Postgres by pg_stat_statements, workerd by the processor time of its process. Workers are asked directly, without miniflare's own in front of them or behind them, and every body was looked at.`
  return [
    {
      title: 'A full page, against the least it could cost',
      columns: ['', 'PostgreSQL', 'workerd', 'together', 'beside it: planning'],
      rows: [
        row(
          'the limit: the plain scan by pgbench, and a constant sent',
          of(SCAN, 'executing'),
          0,
          of('constant', 'worker'),
          false,
        ),
        row(
          'the same, with two servers asked on the way',
          of(SCAN, 'executing'),
          0,
          of('trips', 'worker'),
          false,
        ),
        row(
          'the service: key, plan, brand, budget and page',
          of(SERVICE, 'executing'),
          of(SERVICE, 'planning'),
          of(SERVICE, 'worker'),
          true,
        ),
      ],
      note: `1 = the limit (${figure(limit)} ms); the service is ${figure(total(SERVICE) / least)} of the second row. The scan is prepared once; what comes from a Worker is planned each time, as at Neon. ${noted}`,
    },
    {
      title: 'Ways to make the JSON of a page, without key, budget and cursor',
      columns: ['way', 'PostgreSQL', 'workerd', 'together', 'bytes from Neon'],
      rows: ways
        .toSorted((a, b) => total(a) - total(b))
        .map((name) => [
          WAYS[name] ?? name,
          of(name, 'executing') / best,
          of(name, 'worker') / best,
          total(name) / best,
          received.get(name) ?? 0,
        ]),
      note: `1 = the best (${figure(best)} ms). ${noted}`,
    },
  ]
}

const WAYS: Readonly<Record<string, string>> = {
  cells: 'cells out of Postgres, JSON written in the Worker',
  'json-rows': 'JSON by row_to_json, a row at a time',
  'json-agg': 'JSON by json_agg, one text',
  'line-rows': 'stored lines, a row at a time',
  lines: 'stored lines, strung together by Postgres (the service)',
}
