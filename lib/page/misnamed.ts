import { PARAMETER_ERRORS, parameterError } from '../request/errors.ts'
import type { Operation } from './operation.ts'

const words = (text: string): string[] => text.split(' ')

/** Each word of one list with each word of the other, in both orders. */
const pairs = (some: string, others: string): string[] =>
  words(some).flatMap((one) => words(others).flatMap((other) => [one + other, other + one]))

const TIMES = 'date day time datetime timestamp created at on'

/** Simplified names of other APIs, by what they mean here. Of a name in two lists, the later one counts. */
const MEANINGS: Readonly<Record<string, readonly string[]>> = {
  fromDate: [
    ...words('from start starting begin beginning earliest'),
    ...pairs('from start starting begin beginning since after first earliest min gte gt', TIMES),
  ],
  toDate: [
    ...words('to end ending until till through thru latest'),
    ...pairs('to end ending until till through thru before last latest max lte lt', TIMES),
  ],
  dates: [
    ...words('date day datetime week month quarter year created createdat between range period window'),
    ...words('timerange timeframe timeperiod lookback lookbackday lastdays pastday'),
    ...pairs('date day', 'at on eq is range between'),
  ],
  since: [
    ...words('since ifmodifiedsince updated modified changed lastmodified lastupdated lastchanged newerthan'),
    ...words('lastsync lastrun synctoken delta deltatoken watermark checkpoint'),
    ...pairs('updated modified changed', 'at on date time since after from min gte gt'),
  ],
  endpoint: words('endpoint metric stream table resource'),
  brandId: [
    ...words('brand id uuid guid brandideq brandidin'),
    ...pairs('brand', 'id name key code slug uuid guid ref url domain eq in'),
  ],
  position: [
    ...words(
      'cursor page paged pg next prev previous after before offset skip continue continuation position',
    ),
    ...words(
      'marker bookmark scroll scrollid sinceid afterid maxid lastid startindex startrow nextlink nexturl',
    ),
    ...words('lastevaluatedkey exclusivestartkey'),
    ...pairs('starting ending', 'after before'),
    ...pairs('next prev previous after before start end last page', 'cursor token key marker page'),
    ...pairs('page', 'number num no nr index offset skip after before start state'),
    ...pairs('skip continuation nextpage resumption resume', 'token'),
  ],
  size: [
    ...words('limit size count top first last take fetch row max perpage rpp pagelength maxpagesize'),
    ...words('resultsperpage itemsperpage rowsperpage recordsperpage'),
    ...pairs(
      'max page limit count num numberof batch chunk fetch',
      'size limit count result item row record',
    ),
  ],
  format: [
    ...words('format output accept type mime fmt ext extension alt export download'),
    ...words('csv json ndjson jsonl tsv xml xlsx parquet'),
    ...pairs('file output response result data export download content mime media', 'format type'),
  ],
}

const MEANING_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(MEANINGS).flatMap(([meaning, names]) => names.map((name) => [name, meaning] as const)),
)

/** Returns what a name means here, without regard to case, separators and the plural: `filter[Start_Date]`, `$top`, `brands`. */
function meaningOf(name: string): string | undefined {
  const simple = name
    .toLowerCase()
    .replace(/\[\d+\]|[^\p{L}\p{N}]/gu, '')
    .replace(/^(filters?|query|where)/, '')
  return MEANING_OF.get(simple) ?? MEANING_OF.get(simple.replace(/s$/, ''))
}

/** The message for a name by what it means. */
function messageOf(meaning: string, kind: Operation['kind']): string {
  if (kind === 'days' && (meaning === 'dates' || meaning === 'toDate')) return PARAMETER_ERRORS.endOfDays
  if (meaning === 'dates' || meaning === 'position' || meaning === 'size') return PARAMETER_ERRORS[meaning]
  if (meaning === 'since' && kind === 'metric') return PARAMETER_ERRORS.sinceOfMetric
  return PARAMETER_ERRORS.misnamed(meaning)
}

/**
 * Throws 400 for a name, besides the endpoint's own `names`, that means a brand, a day, a position, a size or a format:
 * ignored, it would return other data than the client expects. The brands have a format only, and the days alone an endpoint.
 */
export function rejectMisnamed(
  query: URLSearchParams,
  { kind, names }: { readonly kind: Operation['kind']; readonly names: readonly string[] },
): void {
  for (const name of query.keys()) {
    if (names.includes(name)) continue
    const meaning = meaningOf(name)
    if (meaning === undefined || (kind === 'brands' && meaning !== 'format')) continue
    if (meaning === 'endpoint' && kind !== 'days') continue
    throw parameterError(messageOf(meaning, kind))
  }
}
