import { connect, fetchBody } from '../http.ts'
import { pageCost } from '../page-cost.ts'
import { type Page, withService } from '../pages.ts'
import { figure, type Section } from '../section.ts'
import { alternate, alternateTimes, timed } from '../timing.ts'

/** What a page costs far from the first one. */
export const section: Section = (setting) =>
  withService(setting, async (running) => {
    const { service, depth, first, deep } = running
    const rounds = Math.round(setting.sized(300))
    const pool = connect(service.url, 1)
    const timePage = (page: Page) => () => timed(() => fetchBody(pool, page.request()))
    const time = await alternateTimes({ first: timePage(first), deep: timePage(deep) }, rounds)
    await pool.close()
    const run = { connections: 1, seconds: Math.max(0.5, setting.sized(2)) }
    const cost = (page: Page) => () => pageCost(running, page, run)
    const measured = await alternate({ first: cost(first), deep: cost(deep) }, 5)
    const postgres = (page: string) => measured(page, ({ postgres }) => postgres)
    return [
      {
        title: `A page ${figure(depth)} rows deep, compared with the first`,
        columns: ['measure', 'first page', 'deep page'],
        rows: [
          ['time of the request', 1, time('deep') / time('first')],
          ['CPU of PostgreSQL', 1, postgres('deep') / postgres('first')],
        ],
        note: `1 = the first page: ${figure(time('first'))} ms, ${figure(postgres('first'))} ms of CPU. Medians of ${rounds} alternating requests over one connection, and of 5 alternating rounds.`,
      },
    ]
  })
