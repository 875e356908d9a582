import type { Stream } from '../streams.ts'
import { type Files, readMetric } from './read-files.ts'
import type { CitedDomain, CitedDomains } from './report-data.ts'

const TOP = 10
const NEEDED = ['domain', 'citations']

/** Adds up the citations of each domain. */
export async function readDomains(files: Files, stream: Stream): Promise<CitedDomains> {
  const domains = new Map<string | null, number>()
  let total = 0
  const columns = stream.columns.filter(({ name }) => NEEDED.includes(name))
  for await (const { domain, citations } of readMetric(files, { ...stream, columns })) {
    const name = domain === null ? null : String(domain)
    domains.set(name, Number(citations) + (domains.get(name) ?? 0))
    total += Number(citations)
  }
  const top = [...domains]
    .map(([domain, citations]) => ({ domain, citations }))
    .sort(byCitations)
    .slice(0, TOP)
  return { title: stream.title, citations: total, top }
}

const byCitations = (left: CitedDomain, right: CitedDomain): number =>
  right.citations - left.citations || ((left.domain ?? '') < (right.domain ?? '') ? -1 : 1)
