import { byHand } from '../contenders/by-hand.ts'
import { platformaticCursor, platformaticOffset } from '../contenders/platformatic.ts'
import { postgraphile4, postgraphile5 } from '../contenders/postgraphile.ts'
import { service } from '../contenders/service.ts'
import { type Field, inContest } from '../contest.ts'
import { isCounted } from '../cpu.ts'
import { measureLines, PAGES } from '../lines.ts'
import type { Cost } from '../page-cost.ts'
import { figure } from '../print.ts'
import type { Section } from '../section.ts'

const CONTENDERS = [service, byHand, postgraphile5, postgraphile4, platformaticCursor, platformaticOffset]
const CONNECTIONS = 8

const total = ({ server, postgres, redis }: Cost) => server + postgres + redis
const pagesPerSecond = (cost: Cost) => cost.pagesPerSecond
const reasons = (failed: Field['failed']) => failed.map(({ name, reason }) => `${name}: ${reason}.`).join(' ')

/** What a page costs the service, a server written by hand and products that make an API of a database. */
export const section: Section = (setting) =>
  inContest(setting, CONTENDERS, async (field) => {
    const { contest } = field
    const seconds = Math.max(1, setting.sized(3))
    const rounds = Math.max(2, Math.round(setting.sized(5)))
    const { lines, failed } = await measureLines(field, { connections: CONNECTIONS, seconds, rounds })
    const base = lines.find(({ name, page }) => name === byHand.name && page === 'first')
    if (base === undefined) throw new Error(`Nothing to compare with: ${reasons(failed)}`)
    const cpu = base.middle(total)
    const rate = base.middle(pagesPerSecond)
    const perCpu = (whose: string) =>
      PAGES.map((which) => {
        const line = lines.find(({ name, page }) => name === whose && page === which)
        return line === undefined ? 0 : cpu / line.middle(total)
      })
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
        rows: lines.map(({ name, page, bytes, middle }) => [
          name,
          page === 'first' ? 'first' : `${figure(contest.depth)} rows deep`,
          middle(pagesPerSecond) / rate,
          middle(total) / cpu,
          middle(({ server }) => server) / cpu,
          middle(({ postgres }) => postgres) / cpu,
          middle(({ redis }) => redis) / cpu,
          middle(({ apart }) => apart) / cpu,
          bytes,
        ]),
        note: [
          `1 = the first page of ${byHand.name} (${figure(cpu)} ms of CPU, ${figure(rate)} pages a second).`,
          `Medians of ${rounds} alternating rounds of ${figure(seconds)} s; the rows of each page were compared with SQL, every body byte for byte with that page.`,
          `CPU: of all threads of the server’s processes, of its PostgreSQL backends (parallel plans off) and of Redis, by Linux’s scheduler${isCounted() ? '' : ', which this system does not have'}; the load generator’s is in none, though it shares the machine.`,
          'Not alike: only the service checks key, plan, brand and budget, signs cursors, and makes an ETag of a closed window; the emulator plays Neon and Upstash in a Node process beside workerd, which takes part of the machine and so of its pages a second (production has it not), and the service’s statements are held by the database as functions, where the others keep prepared ones or a session.',
          'PostGraphile has no date filter here; Platformatic DB’s offset pages carry no cursor, and its cursor pages carry one column more. PostGraphile’s deep cursor was given by itself with the row ahead of the page, that of the service and of the others is made of the key of that row as they make it.',
          contest.redisUrl === undefined
            ? 'Without REDIS_URL the store of the budget is inside the emulator.'
            : '',
          failed.length > 0 ? `Failed: ${reasons(failed)}` : '',
        ]
          .filter((sentence) => sentence !== '')
          .join(' '),
        chart: {
          title: 'Pages a second of CPU',
          subtitle: `1000 rows at ${CONNECTIONS} connections; 1 = the first page of ${byHand.name}; longer is better`,
          series: ['first page', `${figure(contest.depth)} rows deep`],
          groups: field.entrants.map(({ name }) => ({ name, values: perCpu(name) })),
          footnotes: [
            'CPU of server, PostgreSQL and Redis, without the emulator’s and the load generator’s.',
            'Only this service checks a key, a plan, a brand and a rate budget.',
          ],
        },
      },
    ]
  })
