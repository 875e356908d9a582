import { byHand } from '../contenders/by-hand.ts'
import { platformaticCursor, platformaticOffset } from '../contenders/platformatic.ts'
import { postgraphile4, postgraphile5 } from '../contenders/postgraphile.ts'
import { service } from '../contenders/service.ts'
import { inContest } from '../contest.ts'
import { isCounted } from '../cpu.ts'
import { type Cost, pageCost, redisProcess } from '../page-cost.ts'
import { figure } from '../print.ts'
import { inTurns, median } from '../rounds.ts'
import type { Section } from '../section.ts'

const CONTENDERS = [service, byHand, postgraphile5, postgraphile4, platformaticCursor, platformaticOffset]
const CONNECTIONS = 8
const PAGES = ['first', 'deep'] as const

/** What a page costs the service, a server written by hand and products that make an API of a database. */
export const section: Section = (setting) =>
  inContest(setting, CONTENDERS, async ({ client, contest, entrants, failed }) => {
    const seconds = Math.max(1, setting.sized(3))
    const rounds = Math.max(2, Math.round(setting.sized(5)))
    const redisPid = await redisProcess(contest.redisUrl)
    const costs = await inTurns<Cost>(
      Object.fromEntries(
        entrants.flatMap(({ name, running, ...pages }) =>
          PAGES.map((page) => [
            `${name} ${page}`,
            () =>
              pageCost(client, { running, page: pages[page], redisPid, connections: CONNECTIONS, seconds }),
          ]),
        ),
      ),
      rounds,
    )
    const middle = (name: string, page: string, of: (cost: Cost) => number) =>
      median(costs(`${name} ${page}`).map(of))
    const total = ({ server, postgres, redis }: Cost) => server + postgres + redis
    const base = {
      rate: middle(byHand.name, 'first', ({ pagesPerSecond }) => pagesPerSecond),
      cpu: middle(byHand.name, 'first', total),
    }
    const row = (name: string, page: (typeof PAGES)[number], bytes: number) => {
      const cpu = (of: (cost: Cost) => number) => middle(name, page, of) / base.cpu
      return [
        name,
        page === 'first' ? 'first' : `${figure(contest.depth)} rows deep`,
        middle(name, page, ({ pagesPerSecond }) => pagesPerSecond) / base.rate,
        cpu(total),
        cpu(({ server }) => server),
        cpu(({ postgres }) => postgres),
        cpu(({ redis }) => redis),
        cpu(({ apart }) => apart),
        bytes,
      ]
    }
    const perCpu = (name: string, page: (typeof PAGES)[number]) => base.cpu / middle(name, page, total)
    const nothing = failed.map(({ name, reason }) => `${name}: ${reason}.`)
    return [
      {
        title: `A page of 1000 rows at ${CONNECTIONS} connections, against other servers over the same table`,
        columns: [
          'server',
          'page',
          'pages a second',
          'CPU a page',
          'of it: server',
          'PostgreSQL',
          'Redis',
          'not in it: emulator',
          'bytes',
        ],
        rows: entrants.flatMap(({ name, first, deep }) => [
          row(name, 'first', first.expected.length),
          row(name, 'deep', deep.expected.length),
        ]),
        note: [
          `1 = the first page of ${byHand.name} (${figure(base.cpu)} ms of CPU, ${figure(base.rate)} pages a second).`,
          `Medians of ${rounds} alternating rounds of ${figure(seconds)} s; the rows of each page were compared with SQL, every body byte for byte with that page.`,
          `CPU: of all threads of the server’s processes, of its PostgreSQL backends (parallel plans off) and of Redis, by Linux’s scheduler${isCounted() ? '' : ', which this system does not have'}; the load generator's is in none, though it shares the machine.`,
          'Not alike: only the service checks key, plan, brand and budget, signs cursors, and makes an ETag of a closed window; the emulator plays Neon and Upstash in a Node process beside workerd, which takes part of the machine and so of its pages a second (production has it not); miniflare’s own Worker in front of every request is in the service’s CPU; and as at Neon each of its statements is planned anew, while the others keep prepared ones or a session.',
          'PostGraphile has no date filter here; Platformatic DB’s offset pages carry no cursor, and its cursor pages carry one column more. PostGraphile’s deep cursor was given by itself with the row ahead of the page, that of the service and of the others is made of the key of that row as they make it.',
          contest.redisUrl === undefined
            ? 'Without REDIS_URL the store of the budget is inside the emulator.'
            : '',
          ...(nothing.length > 0 ? [`Failed: ${nothing.join(' ')}`] : []),
        ]
          .filter((sentence) => sentence !== '')
          .join(' '),
        chart: {
          title: 'Pages a second of CPU',
          subtitle: `1000 rows of a million at ${CONNECTIONS} connections; 1 = the first page of ${byHand.name}; longer is better`,
          series: ['first page', `${figure(contest.depth)} rows deep`],
          groups: entrants.map(({ name }) => ({ name, values: PAGES.map((page) => perCpu(name, page)) })),
          footnote:
            'CPU of server, PostgreSQL and Redis. Only this service checks a key, a plan, a brand and a rate budget.',
        },
      },
    ]
  })
