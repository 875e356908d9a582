import { type DaysPage, type DaysQuery, readDays } from './days.ts'
import type { ClientOptions } from './options.ts'
import { type Abortable, type Endpoint, endpoint, type Page } from './pages.ts'
import { createSend } from './send.ts'
import type * as types from './types.ts'

/** Days are `YYYY-MM-DD`, in UTC. */
export type MetricWindow = {
  readonly brandId: string
  /** Default: 30 days before today. */
  readonly fromDate?: string | undefined
  /** Default: today. */
  readonly toDate?: string | undefined
}

export type ChangesWindow = {
  /** Default: every brand that the key reads. */
  readonly brandId?: string | undefined
  /** A `changedAt` as received: only later changes are listed. Default: all. */
  readonly since?: string | undefined
  /** Bounds of the listed days. Default: as far as the plan reaches. */
  readonly fromDate?: string | undefined
  readonly toDate?: string | undefined
}

/**
 * A day whose rows changed. `totals` sums the fields that add up; `digest` proves the rows; `causes` has the `changedAt` of
 * the latest change of each kind. Compare times as text, never with a clock.
 */
export type ChangedDay = {
  readonly brandId: string
  readonly endpoint: string
  readonly date: string
  readonly rows: number
  readonly totals: Readonly<Record<string, number>>
  readonly digest: string
  readonly causes: Readonly<Record<string, string>>
  readonly changedAt: string
}

/** A row of any metric. */
export type MetricRow = Readonly<Record<string, string | number | boolean | null>>

/** All brands that a key can read. */
export type BrandsPage = Pick<Page<types.Brand>, 'rows' | 'brandsDigest' | 'requestId'>

/** Requests the brands that the key can read. */
export type Brands = {
  (options?: Abortable): Promise<readonly types.Brand[]>
  /** Returns them with what the service says about them. */
  readonly page: (options?: Abortable) => Promise<BrandsPage>
}

type Metric<Row> = Endpoint<Row, MetricWindow>

/**
 * A client of the Export API. Sends a request up to ten times, unless its error is one that stays; then throws an
 * `ExportApiError` of its status. Rates and weights are numbers; `decimalText` returns the service's text of one.
 */
export class ExportApi {
  // <generated metrics>
  /** Returns how many answers mention the brand. */
  readonly visibility: Metric<types.VisibilityRow>
  /** Returns how many answers mention each active competitor, measured like the brand's own visibility. */
  readonly competitors: Metric<types.CompetitorRow>
  /** Returns the URLs that answers cite. */
  readonly citations: Metric<types.CitationRow>
  /** Returns how many answers cite each URL, and in how many of them the citation is owned, as defined at `/citations`. */
  readonly citationShare: Metric<types.CitationShareRow>
  /** Returns the sentiment of the phrases about the brand, across all models and markets. */
  readonly sentiment: Metric<types.SentimentRow>
  /** Returns how often answers recommend the brand and its active competitors. */
  readonly recommendedRate: Metric<types.RecommendedRateRow>
  // </generated metrics>
  /** Returns the metric with the `endpoint` of a changed day. */
  readonly metric: (endpoint: string) => Metric<MetricRow>
  /** Yields pages of whole days: those that changed since a cursor, or every day. */
  readonly days: (query?: DaysQuery & Abortable) => AsyncGenerator<DaysPage, void, undefined>
  /** Days whose rows changed, by `changedAt`. */
  readonly changedDays: Endpoint<ChangedDay, ChangesWindow>
  /** Returns the brands that the key can read. */
  readonly brands: Brands

  constructor(options: ClientOptions) {
    const send = createSend(options)
    const metric = <Row>(name: string): Metric<Row> => endpoint(send, `/${name}`, (row: Row) => row)
    // <generated requests>
    this.visibility = metric('visibility')
    this.competitors = metric('competitors')
    this.citations = metric('citations')
    this.citationShare = metric('citation-share')
    this.sentiment = metric('sentiment')
    this.recommendedRate = metric('recommended-rate')
    // </generated requests>
    this.metric = metric
    this.days = (query = {}) => readDays(send, query)
    this.changedDays = endpoint(send, '/changes', ({ brand_id, changed_at, ...day }: types.ChangeRow) => ({
      ...day,
      brandId: brand_id,
      changedAt: changed_at,
    }))
    const page = async ({ signal }: Abortable = {}): Promise<BrandsPage> => {
      const isComplete = ({ data }: { data: readonly types.Brand[] }) => Array.isArray(data)
      const { headers, body } = await send({ path: '/brands', signal, isComplete })
      return {
        rows: body.data,
        brandsDigest: headers.get('X-Brands-Digest'),
        requestId: headers.get('X-Request-Id'),
      }
    }
    this.brands = Object.assign(async (options?: Abortable) => (await page(options)).rows, { page })
  }
}
