import * as z from 'zod/mini'
import { dailyCitationShare } from '../drizzle/metrics/citation-share.ts'
import { sendFile } from '../lib/file/file.ts'
import { sendPage } from '../lib/page/page.ts'
import { paged } from '../lib/page/paged.ts'
import { count, day, flag, nullable, text } from '../lib/rows/schema.ts'

export const CitationShareRow = z.object({
  date: day('UTC day of the answers that cite the URL.'),
  url: text('Cited URL.'),
  domain: nullable(text('Domain of the cited URL. Null when it is unknown.')),
  is_owned: flag(
    'True when any answer of this day has an owned citation of the URL, whenever it was recorded. `/citations` uses the day of recording.',
  ),
  citations: count('Counted answers of this day that cite the URL.'),
  owned_citations: count(
    'Answers counted in `citations` with an owned citation of the URL. Can be fewer although `is_owned` is true: the domain became owned during the day.',
  ),
})

export default paged({
  path: '/citation-share',
  summary: 'Citation Share',
  description: `Returns how many answers cite each URL, and in how many of them the citation is owned, as defined at
\`/citations\`. One row per URL and date of the answer. Citation Share of a period: \`sum(owned_citations) / sum(citations) × 100\`.`,
  row: CitationShareRow,
  primaryKey: ['date', 'url'],
  rows: dailyCitationShare,
  formula: { part: ['owned_citations'], whole: ['citations'] },
  key: ['date', 'url_hash'],
  formats: { json: sendPage, csv: sendFile('csv'), ndjson: sendFile('ndjson') },
})
