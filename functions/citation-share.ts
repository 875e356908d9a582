import * as z from 'zod/mini'
import { dailyCitationShare } from '../drizzle/daily/citation-share.ts'
import { metric } from '../lib/metric.ts'
import { count, day, flag, nullable, text } from '../lib/schemas.ts'

export const CitationShareRow = z.object({
  date: day('UTC day of the answers that cited the URL.'),
  url: text('Cited URL.'),
  domain: nullable(text('Domain of the cited URL; null when it is not known.')),
  is_owned: flag('True when any citation of this URL on this day was to a domain that the brand owns.'),
  citations: count('Counted answers of this day that cited this URL.'),
  owned_citations: count('Of `citations`, those in which a citation of the URL was owned.'),
})

export default metric({
  path: '/citation-share',
  summary: 'Citation Share',
  description: `One row per date and URL, dated by the answer. Citation Share of a window is
sum(owned_citations) / sum(citations) × 100 over its rows; do not average days.`,
  row: CitationShareRow,
  rows: dailyCitationShare,
  formula: { part: 'sum(owned_citations)', whole: 'sum(citations)' },
  key: ['date', 'url_hash'],
})
