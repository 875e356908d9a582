import { withServers } from '../compare.ts'
import { byHand, service } from '../contenders.ts'
import { type PageCost, pageCost } from '../page-cost.ts'
import { platformatic, postgraphile } from '../products.ts'
import { figure, type Section } from '../section.ts'
import { alternate } from '../timing.ts'

const CONTENDERS = [service, byHand, postgraphile, platformatic]
const CONNECTIONS = 8

const cpu = ({ server, postgres, redis }: PageCost) => server + postgres + redis
const rate = ({ pagesPerSecond }: PageCost) => pagesPerSecond

/** What a page costs this service, a server written by hand and products that turn a database into an API. */
export const section: Section = (setting) =>
  withServers(setting, CONTENDERS, async ({ client, data, depth, competitors }) => {
    const seconds = Math.max(1, setting.sized(3))
    const rounds = Math.max(2, Math.round(setting.sized(5)))
    const run = { client, redisUrl: data.redisUrl, connections: CONNECTIONS, seconds }
    setting.report(`${rounds} rounds`)
    const measured = await alternate<PageCost>(
      Object.fromEntries(
        competitors.flatMap((each) => [
          [`${each.name} first`, () => pageCost(run, each, each.first)],
          [`${each.name} deep`, () => pageCost(run, each, each.deep)],
        ]),
      ),
      rounds,
    )
    const base = `${byHand.name} first`
    const ratio = (page: string, value: (cost: PageCost) => number, of = value) =>
      measured(page, value) / measured(base, of)
    return [
      {
        title: `A page of 1000 rows at ${CONNECTIONS} connections, compared with other servers over the same table`,
        columns: [
          'server',
          'CPU, first page',
          'CPU, deep page',
          'first page: server',
          'PostgreSQL',
          'Redis',
          'pages per second, first',
          'deep',
        ],
        rows: competitors.map(({ name }) => [
          name,
          ratio(`${name} first`, cpu),
          ratio(`${name} deep`, cpu),
          ratio(`${name} first`, ({ server }) => server, cpu),
          ratio(`${name} first`, ({ postgres }) => postgres, cpu),
          ratio(`${name} first`, ({ redis }) => redis, cpu),
          ratio(`${name} first`, rate),
          ratio(`${name} deep`, rate),
        ]),
        note: `1 = the first page of ${byHand.name}: ${figure(measured(base, cpu))} ms of CPU, ${figure(measured(base, rate))} pages per second. Deep: ${figure(depth)} rows. Medians of ${rounds} alternating rounds of ${figure(seconds)} s. The rows of both pages were compared with SQL, every body with that page. Only the service checks key, plan, brand and budget and signs cursors. The emulator is not in its CPU, but lowers its pages per second. PostGraphile has no date filter here, and Platformatic sends one column more.`,
      },
    ]
  })
