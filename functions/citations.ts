import * as z from 'zod/mini'
import { dailyCitations } from '../drizzle/daily/citations.ts'
import { metric } from '../lib/metric.ts'
import { count, day, flag, nullable, text } from '../lib/schemas.ts'

export const CitationRow = z.object({
  date: day('UTC day on which the citations were recorded.'),
  url: text('Cited URL.'),
  domain: nullable(text('Domain of the cited URL; null when it is not known.')),
  is_owned: flag(
    'True (owned) when any of the citations of this URL on this day was to a domain that the brand owns, else earned.',
  ),
  citations: count('Counted answers whose citation of this URL was recorded on this day.'),
})

export default metric({
  path: '/citations',
  summary: 'Cited URLs by the day of recording',
  description: `One row per date and URL, dated by when the citation was recorded; ownership is decided once per URL
and day. For Citation Share, which dates by the answer and counts ownership per citation, read \`/citation-share\`.`,
  row: CitationRow,
  rows: dailyCitations,
  key: ['date', 'url_hash'],
})
