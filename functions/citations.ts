import * as z from 'zod/mini'
import { dailyCitations } from '../drizzle/metrics/citations.ts'
import { sendFile } from '../lib/file/file.ts'
import { sendPage } from '../lib/page/page.ts'
import { paged } from '../lib/page/paged.ts'
import { count, day, flag, nullable, text } from '../lib/rows/schema.ts'

export const CitationRow = z.object({
  date: day('UTC day on which the citations were recorded.'),
  url: text('Cited URL.'),
  domain: nullable(
    text(
      "Domain of the URL; if that day's citations disagree, the one that sorts last by code point. Null when it is unknown.",
    ),
  ),
  is_owned: flag(
    'True (owned) when any citation of the URL that was recorded on this day is owned. False (earned) otherwise.',
  ),
  citations: count('Counted answers whose citation of the URL was recorded on this day.'),
})

export default paged({
  path: '/citations',
  summary: 'Cited URLs',
  description: `Returns the URLs that answers cite. One row per URL and date on which the citation was recorded. A
citation is owned when it was recorded as one of a domain that the brand owns. To compute Citation Share, use
\`/citation-share\`: it uses the date of the answer and counts owned citations.`,
  row: CitationRow,
  primaryKey: ['date', 'url'],
  rows: dailyCitations,
  key: ['date', 'url_hash'],
  formats: { json: sendPage, csv: sendFile('csv'), ndjson: sendFile('ndjson') },
})
