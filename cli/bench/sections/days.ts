import { BASE } from '../../../lib/http/app.ts'
import { alternate, meterOf, type Used } from '../measure.ts'
import { figure, type Section } from '../section.ts'
import { addBrands, addTenant } from '../tenant.ts'
import { LAST_DAY } from '../volume.ts'
import { type BrandYear, FIRST_DAY, fillUrls, listDays, requestPages, startBrandYear } from '../year.ts'

const ROUNDS = 20
/** The metrics that have rows, and the first day of the pages that are compared. */
const METRICS = { 'citation-share': '2026-11-01', visibility: FIRST_DAY, sentiment: FIRST_DAY }
const URLS_OF_A_DAY = [10_000, 25_000, 200_000]
const BRANDS = [1, 500, 5000]
const COLUMNS = ['', 'requests', 'days', 'CPU, ms', 'days', 'bytes', 'days', 'Worker, ms', 'days']

/** Edits of the first so many brands, of which the first is the large one, on one day of so many. */
const EDITS = { '31 days, 5 brands': [5, 12], '14 days, 22 brands': [22, 28], '61 days, 1 brand': [1, 6] }

/** What days cost compared with pages, and how many requests a copy takes. */
export const section: Section = async (setting) => {
  const { sized, report } = setting
  await using its = await startBrandYear(setting)
  const { client, brandId, key } = its
  await fillOtherMetrics(its)
  const ids = 'select id from brands order by id <> $1, id'
  const brands = (await client.query<{ id: string }>(ids, [brandId])).rows.map(({ id }) => id)
  for (const metric of Object.keys(METRICS)) await listDays(client, metric.replace('-', '_'), brands)
  await client.query('vacuum analyze')

  report('requests of a copy')
  let copied = await read(its, key, '/days?')
  const copies = [['first load', copied.days, copied.rows, copied.requests]]
  for (const [name, [count = 0, every = 0]] of Object.entries(EDITS)) {
    await edit(its, brands.slice(0, count), every)
    copied = await read(its, key, `/days?cursor=${copied.cursor}`)
    copies.push([name, copied.days, copied.rows, copied.requests])
  }

  report('pages of days')
  const pages = []
  for (const [metric, fromDate] of Object.entries(METRICS)) {
    const query = `fromDate=${fromDate}&brandId=${brandId}`
    const compared = await compare(its, key, [`/${metric}?${query}`, `/days?endpoint=${metric}&${query}`])
    pages.push([metric, ...compared])
  }
  for (const urls of URLS_OF_A_DAY.map(sized)) {
    report(`a day of ${figure(urls)} URLs`)
    const large = await addLargeDay(its, urls)
    const query = `fromDate=${LAST_DAY}&brandId=${large.brandId}`
    const compared = await compare(its, large.key, [`/citation-share?${query}`, `/days?${query}`])
    pages.push([`a day of ${figure(urls)} URLs`, ...compared])
  }

  const polls = []
  for (const count of BRANDS.map((full) => Math.max(1, sized(full)))) {
    report(`polls, brands: ${figure(count)}`)
    const poller = await addManyBrands(its, count)
    const query = 'since=9999-12-31T00:00:00Z'
    polls.push([figure(count), ...(await compare(its, poller, [`/changes?${query}`, `/days?${query}`]))])
  }
  const note = 'Medians of turns. CPU is that of PostgreSQL. Those of days are ratios, except requests.'
  return [
    { title: 'Requests of a copy', columns: ['', 'days', 'rows', 'requests'], rows: copies },
    { title: 'Days compared with pages', columns: COLUMNS, rows: pages, note },
    { title: 'A poll that finds nothing, compared with /changes', columns: COLUMNS, rows: polls, note },
  ]
}

/** Measures reading two paths in turn. Returns the cells of a line. */
async function compare(its: BrandYear, key: string, [pages, days]: readonly [string, string]) {
  const reading = (path: string) => () => meterOf(its)(() => read(its, key, path))
  const median = await alternate({ pages: reading(pages), days: reading(days) }, ROUNDS)
  const requests = ({ requests }: Used) => requests
  const ratios = (['postgresCpuMs', 'transferredBytes', 'workerCpuMs'] as const).flatMap((item) => {
    const ofPages = median('pages', (used) => used[item])
    return [ofPages, median('days', (used) => used[item]) / ofPages]
  })
  return [median('pages', requests), median('days', requests), ...ratios]
}

type Page = { data: { rows?: unknown[] }[]; pagination: { nextCursor: string } }

/** Requests all pages from a path on. Returns their number, those of their days and rows, and the last cursor. */
async function read({ pool, year }: BrandYear, key: string, path: string) {
  const found = { requests: 0, days: 0, rows: 0, cursor: '' }
  const headers = { ...year.headers, 'X-API-Key': key }
  await requestPages({ client: pool, path: BASE + path, headers }, (body) => {
    const { data, pagination }: Page = JSON.parse(body)
    found.requests += 1
    found.days += data.length
    found.rows += data.reduce((sum, { rows = [] }) => sum + rows.length, 0)
    found.cursor = pagination.nextCursor
  })
  return found
}

/** Fills two metrics with a year of all brands: 20 rows a day, and one. */
async function fillOtherMetrics({ client }: BrandYear): Promise<void> {
  const days = `from brands, generate_series(0, date '${LAST_DAY}' - date '${FIRST_DAY}') as ago`
  await client.query(
    `insert into daily.visibility
     select id, date '${LAST_DAY}' - ago, 'model-' || n % 5, 'Provider ' || n % 5, md5('market' || n / 5)::uuid, 'Market ' || n / 5, 40, n, 2.5 * n
     ${days}, generate_series(0, 19) as n order by 2, 1`,
  )
  await client.query(
    `insert into daily.sentiment select id, date '${LAST_DAY}' - ago, 5, 9, 1, 3.1415, 0.9, 77.7304 ${days} order by 2, 1`,
  )
}

/** Lists days of brands as changed now: one of so many. */
const edit = ({ client }: BrandYear, brandIds: readonly string[], every: number) =>
  client.query(
    `with clock as materialized (select daily.advance_clock() as changed_at)
     update daily.changes set changed_at = clock.changed_at from clock
     where brand_id = any ($1) and (date - $2::date) % $3 = 0`,
    [brandIds, FIRST_DAY, every],
  )

/** Adds a key whose only brand has so many URLs on one day. */
async function addLargeDay({ client }: BrandYear, urls: number) {
  const { organizationId, key } = await addTenant(client)
  const [brandId = ''] = await addBrands(client, organizationId, 1)
  await fillUrls(client, new Map([[brandId, urls]]), LAST_DAY)
  await listDays(client, 'citation_share', [brandId])
  return { brandId, key }
}

/** Adds a key with brands that have 180 changed days each. */
async function addManyBrands({ client }: BrandYear, count: number): Promise<string> {
  const { organizationId, key } = await addTenant(client)
  await client.query(
    `with brand as (
       insert into brands (organization_id, name, display_name, url, site_url)
       select $1, 'Acme', 'Acme', 'acme.example', 'https://acme.example' from generate_series(1, $2::int) returning id
     )
     insert into daily.changes (brand_id, endpoint, date, rows, bytes, totals, digest, causes, changed_at, first_changed_at, batch)
     select id, endpoint, date '${LAST_DAY}' - ago, 10, 1000, '{}', '000000000000000', '{}', date '${LAST_DAY}' - ago || 'T00:00:00.000000Z', '', 1
     from brand, unnest($3::text[]) as endpoint, generate_series(0, 59) as ago`,
    [organizationId, count, Object.keys(METRICS)],
  )
  await client.query('vacuum analyze')
  return key
}
