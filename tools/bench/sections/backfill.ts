import { type Competitor, walk, withServers } from '../compare.ts'
import { byHand, service } from '../contenders.ts'
import { figure, type Section } from '../section.ts'
import { alternate, median } from '../timing.ts'

const ROUNDS = 3

/** The sums that a complete pull must have. */
type Expected = { readonly rows: number; readonly citations: number }

type Pull = { readonly rate: number; readonly pages: number; readonly slowdown: number }

/** A year of one brand, pulled page after page. */
export const section: Section = (setting) =>
  withServers(setting, [service, byHand], async ({ client, data, competitors }) => {
    const { rows } = await client.query<Expected>(
      'select count(*)::int as rows, sum(citations)::int as citations from daily.citation_share where brand_id = $1',
      [data.brandId],
    )
    const expected = rows[0] ?? { rows: 0, citations: 0 }
    const measured = await alternate<Pull>(
      Object.fromEntries(competitors.map((each) => [each.name, () => pull(each, expected)])),
      ROUNDS,
    )
    const rate = (name: string) => measured(name, ({ rate }) => rate)
    return [
      {
        title: `A year of one brand, ${figure(expected.rows)} rows, page after page`,
        columns: ['server', 'pages', 'rows per second', 'last tenth of the pages, first tenth = 1'],
        rows: competitors.map(({ name }) => [
          name,
          measured(name, ({ pages }) => pages),
          rate(name) / rate(byHand.name),
          measured(name, ({ slowdown }) => slowdown),
        ]),
        note: `1 = ${byHand.name}: ${figure(rate(byHand.name))} rows per second. Medians of ${ROUNDS} alternating pulls over one connection. Every pull had each row once, in order of days. The emulator's time is part of the service's.`,
      },
    ]
  })

/** Pulls all pages. Throws unless each row came once and in order. */
async function pull({ server }: Competitor, expected: Expected): Promise<Pull> {
  const times: number[] = []
  const seen = new Set<string>()
  let citations = 0
  let day = ''
  for await (const { json, ms } of walk(server)) {
    times.push(ms)
    for (const row of server.rows(json)) {
      if (String(row.date) < day) throw new Error(`${row.date} comes after ${day}`)
      day = String(row.date)
      seen.add(`${day} ${row.url}`)
      citations += Number(row.citations)
    }
  }
  if (seen.size !== expected.rows || citations !== expected.citations) {
    throw new Error(`A pull had ${seen.size} rows and ${citations} citations: ${JSON.stringify(expected)}`)
  }
  const full = times.slice(0, -1)
  const tenth = Math.max(1, Math.floor(full.length / 10))
  return {
    rate: (1000 * seen.size) / times.reduce((sum, ms) => sum + ms, 0),
    pages: times.length,
    slowdown: median(full.slice(-tenth)) / median(full.slice(0, tenth)),
  }
}
