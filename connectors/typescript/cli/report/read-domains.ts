import type { Stream } from '../streams.ts'
import { firstDay, PERIOD_NAMES } from './periods.ts'
import { type Files, readMetric } from './read-files.ts'
import type { CitedDomain, CitedDomains } from './report-data.ts'

const TOP = 10
const NEEDED = ['date', 'domain', 'citations']

/** Adds up the citations of each domain in each period through the last day. */
export async function readDomains(
  files: Files,
  stream: Stream,
  last: string | undefined,
): Promise<CitedDomains> {
  const starts = PERIOD_NAMES.map((period) => firstDay(period, last))
  /** The citations in each period. */
  const domains = new Map<string | null, number[]>()
  const columns = stream.columns.filter(({ name }) => NEEDED.includes(name))
  for await (const { date, domain, citations } of readMetric(files, { ...stream, columns })) {
    const name = domain === null ? null : String(domain)
    const sums = domains.get(name) ?? starts.map(() => 0)
    domains.set(
      name,
      sums.map((sum, period) => (String(date) < (starts[period] ?? '') ? sum : sum + Number(citations))),
    )
  }
  const periods = PERIOD_NAMES.map((name, period) => {
    const cited = [...domains]
      .map(([domain, sums]) => ({ domain, citations: sums[period] ?? 0 }))
      .filter(({ citations }) => citations > 0)
      .sort(byCitations)
    const citations = cited.reduce((sum, domain) => sum + domain.citations, 0)
    return [name, { citations, top: cited.slice(0, TOP) }]
  })
  return { title: stream.title, periods: Object.fromEntries(periods) }
}

const byCitations = (left: CitedDomain, right: CitedDomain): number =>
  right.citations - left.citations || ((left.domain ?? '') < (right.domain ?? '') ? -1 : 1)
