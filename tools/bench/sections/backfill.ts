import type { Dispatcher } from 'undici'
import { byHand } from '../contenders/by-hand.ts'
import { at, rowsIn } from '../contenders/contender.ts'
import { service } from '../contenders/service.ts'
import { type Entrant, inContest } from '../contest.ts'
import { connect, fetchBody } from '../drive.ts'
import { figure } from '../print.ts'
import { inTurns, median } from '../rounds.ts'
import type { Section } from '../section.ts'

const ROUNDS = 3

/** What has to come out of a pull: each row once, and the sum of a column. */
type Truth = { readonly rows: number; readonly citations: number }

/** A pull from the first page to the last: milliseconds in requests, in all and page by page. */
type Pull = { readonly ms: number; readonly pages: readonly number[] }

/** A whole year of one brand, pulled page after page, beside a server written by hand. */
export const section: Section = (setting) =>
  inContest(setting, [service, byHand], async ({ client, contest, entrants, failed }) => {
    const { rows } = await client.query<Truth>(
      'select count(*)::int as rows, sum(citations)::int as citations from daily.citation_share where brand_id = $1',
      [contest.brandId],
    )
    const [truth] = rows
    if (truth === undefined) throw new Error('SQL counts no rows')
    const pulls = await inTurns<Pull>(
      Object.fromEntries(entrants.map((entrant) => [entrant.name, () => pull(entrant, truth)])),
      ROUNDS,
    )
    const middle = (name: string, of: (pull: Pull) => number) => median(pulls(name).map(of))
    const rate = (name: string) => truth.rows / (middle(name, ({ ms }) => ms) / 1000)
    return [
      {
        title: `A year of one brand, ${figure(truth.rows)} rows, page after page`,
        columns: ['server', 'pages', 'rows a second', 'last tenth of the pages, of the first tenth'],
        rows: entrants.map(({ name }) => [
          name,
          middle(name, ({ pages }) => pages.length),
          rate(name) / rate(byHand.name),
          middle(name, ({ pages }) => tenth(pages, 'last') / tenth(pages, 'first')),
        ]),
        note: [
          `1 = ${byHand.name} (${figure(rate(byHand.name))} rows a second). One connection, each page by the cursor of the one before; medians of ${ROUNDS} alternating pulls, time in requests alone.`,
          'Every pull had each row exactly once (day and URL), in order of days, and the sum of citations that SQL gives. The last page, which is not full, is in no tenth. The emulator in front of Neon and Upstash is part of the service’s time.',
          ...failed.map(({ name, reason }) => `${name} failed: ${reason}.`),
        ].join(' '),
      },
    ]
  })

async function pull({ running, first }: Entrant, truth: Truth): Promise<Pull> {
  const pool = connect(running.server.url, 1)
  try {
    const pages: number[] = []
    const seen = new Set<string>()
    let rows = 0
    let citations = 0
    let day = ''
    let cursor: unknown = null
    do {
      const path = cursor === null ? first.ask.path : `${first.ask.path}&cursor=${cursor}`
      const { ms, body } = await page(pool, { ...first.ask, path })
      pages.push(ms)
      for (const row of rowsIn(at(body, 'data'))) {
        if (String(row.date) < day) throw new Error(`${row.date} comes after ${day}`)
        day = String(row.date)
        rows += 1
        seen.add(`${day} ${row.url}`)
        citations += Number(row.citations)
      }
      cursor = at(body, 'pagination', 'nextCursor')
    } while (typeof cursor === 'string')
    if (rows !== truth.rows || seen.size !== truth.rows || citations !== truth.citations) {
      const given = `${rows} rows, ${seen.size} different ones, ${citations} citations`
      throw new Error(`A pull gave ${given} where SQL has ${truth.rows} and ${truth.citations}`)
    }
    return { ms: pages.reduce((sum, ms) => sum + ms, 0), pages }
  } finally {
    await pool.close()
  }
}

async function page(
  client: Dispatcher,
  ask: Entrant['first']['ask'],
): Promise<{ ms: number; body: unknown }> {
  const start = performance.now()
  const bytes = await fetchBody(client, ask)
  const ms = performance.now() - start
  return { ms, body: JSON.parse(bytes.toString()) }
}

/** The middle time of a tenth of the full pages. */
function tenth(pages: readonly number[], which: 'first' | 'last'): number {
  const full = pages.slice(0, -1)
  const size = Math.max(1, Math.floor(full.length / 10))
  return median(which === 'first' ? full.slice(0, size) : full.slice(-size))
}
