import { withBrandYear } from '../brand-year.ts'
import { figure, type Section } from '../section.ts'
import { alternate, timed } from '../timing.ts'
import { pages, requestPage } from '../year.ts'

const LATENCY_MS = 200

/** How often a page goes to Neon and Upstash, and what that costs when both are 200 ms away. */
export const section: Section = (setting) =>
  withBrandYear(setting, async ({ emulator, year, state }) => {
    const depth = Math.round(setting.sized(400))
    const paths: string[] = []
    for await (const path of pages(year)) if (paths.push(path) > depth) break
    Object.assign(state, { neon: LATENCY_MS, upstash: LATENCY_MS })
    setting.report('requests')
    const observe =
      (path = '') =>
      async () => {
        const before = emulator.subrequests()
        const ms = await timed(() => requestPage({ ...year, path }))
        const { neon, upstash } = emulator.subrequests()
        return { ms, neon: neon - before.neon, upstash: upstash - before.upstash }
      }
    const deep = `page ${figure(depth * 1000)} rows deep`
    const rounds = Math.max(5, Math.round(setting.sized(20)))
    const measured = await alternate(
      { 'first page': observe(paths[0]), [deep]: observe(paths[depth]) },
      rounds,
    )
    return [
      {
        title: `Neon and Upstash ${LATENCY_MS} ms away`,
        columns: ['request', 'requests to Neon', 'requests to Upstash', 'time'],
        rows: ['first page', deep].map((name) => [
          name,
          measured(name, ({ neon }) => neon),
          measured(name, ({ upstash }) => upstash),
          measured(name, ({ ms }) => ms / LATENCY_MS),
        ]),
        note: `1 = ${LATENCY_MS} ms, one round trip. Goal: below 1.25. Medians of ${rounds} alternating requests.`,
      },
    ]
  })
