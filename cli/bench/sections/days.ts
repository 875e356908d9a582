import { BASE } from '../../../lib/http/app.ts'
import { alternate, meterOf, type Used } from '../measure.ts'
import { figure, type Section } from '../section.ts'
import { addBrands, addTenant } from '../tenant.ts'
import { LAST_DAY } from '../volume.ts'
import { type BrandYear, FIRST_DAY, fillUrls, listDays, requestPages, startBrandYear } from '../year.ts'

const ROUNDS = 10
const METRICS = ['citation-share', 'visibility', 'sentiment']
const URLS_OF_A_DAY = [10_000, 25_000, 200_000]
const BRANDS = [1, 500, 5000]
/** Polls that are measured together. */
const POLLS = 20

/** Edits of the first so many brands, of which the first is the large one, on one day of so many. */
const EDITS = [
  { name: '155 days of 5 brands', brands: 5, every: 12 },
  { name: '286 days of all brands', brands: 22, every: 28 },
  { name: '61 days of one brand', brands: 1, every: 6 },
]

/** What days cost compared with pages, and how many requests a copy takes. */
export const section: Section = async (setting) => {
  const { sized, report } = setting
  await using its = await startBrandYear(setting)
  const { client, brandId, key } = its
  await fillOtherMetrics(its)
  const { rows } = await client.query<{ id: string }>('select id from brands order by id <> $1, id', [
    brandId,
  ])
  const brands = rows.map(({ id }) => id)
  for (const metric of METRICS) await listDays(client, metric.replace('-', '_'), brands)
  await client.query('vacuum analyze')

  report('requests of a copy')
  let copied = await read(its, key, '/days?')
  const copies = [['first load', copied.days, copied.rows, copied.requests]]
  for (const { name, brands: count, every } of EDITS) {
    await edit(its, brands.slice(0, count), every)
    copied = await read(its, key, `/days?cursor=${copied.cursor}`)
    copies.push([name, copied.days, copied.rows, copied.requests])
  }

  report('pages of days')
  const pages = []
  for (const metric of METRICS) {
    const from = `fromDate=${FIRST_DAY}&brandId=${brandId}`
    pages.push(await compare(its, metric, key, [`/${metric}?${from}`, `/days?endpoint=${metric}&${from}`]))
  }
  for (const urls of URLS_OF_A_DAY.map(sized)) {
    report(`a day of ${figure(urls)} URLs`)
    const large = await addLargeDay(its, urls)
    const from = `fromDate=${LAST_DAY}&brandId=${large.brandId}`
    pages.push(
      await compare(its, `a day of ${figure(urls)} URLs`, large.key, [
        `/citation-share?${from}`,
        `/days?${from}`,
      ]),
    )
  }

  const polls = []
  for (const count of BRANDS.map((full) => Math.max(1, sized(full)))) {
    report(`polls of ${figure(count)} brands`)
    const since = 'since=9999-12-31T00:00:00Z'
    polls.push(
      await compare(
        its,
        `${figure(count)} brands`,
        await addManyBrands(its, count),
        [`/changes?${since}`, `/days?${since}`],
        POLLS,
      ),
    )
  }
  return [
    {
      title: 'Requests of a copy of 22 brands, of which one has almost half of the rows',
      columns: ['', 'days', 'rows', 'requests'],
      rows: copies,
    },
    {
      title: 'Days compared with pages of as many rows',
      columns: COLUMNS,
      rows: pages,
    },
    {
      title: 'A poll that finds nothing, compared with the list of changes of all brands',
      columns: COLUMNS,
      rows: polls,
    },
  ]
}

const COLUMNS = [
  '',
  'requests',
  'with days',
  'CPU of PostgreSQL, ms',
  'ratio',
  'bytes from Neon',
  'ratio',
  'CPU of the Worker, ms',
  'ratio',
]

/** Measures reading two paths in turn, `times` each. Returns the line of a table. */
async function compare(
  its: BrandYear,
  name: string,
  key: string,
  paths: readonly [string, string],
  times = 1,
) {
  const measure = meterOf(its)
  const reading = (path: string) => () =>
    measure(async () => {
      for (let time = 0; time < times; time += 1) await read(its, key, path)
    })
  const median = await alternate({ pages: reading(paths[0]), days: reading(paths[1]) }, ROUNDS)
  const requests = (of: 'pages' | 'days') => median(of, (used) => used.requests / times)
  const cells = (['postgresCpuMs', 'transferredBytes', 'workerCpuMs'] as const).flatMap((item) => {
    const value = (used: Used) => used[item] / times
    return [median('pages', value), median('days', value) / median('pages', value)]
  })
  return [name, requests('pages'), requests('days'), ...cells]
}

type Page = {
  readonly data: readonly { readonly rows?: readonly unknown[] }[]
  readonly pagination: { readonly nextCursor: string | null }
}

/** Requests all pages from a path on. Returns their number, those of their days and rows, and the last cursor. */
async function read({ pool, year }: BrandYear, key: string, path: string) {
  const found = { requests: 0, days: 0, rows: 0, cursor: '' }
  const headers = { ...year.headers, 'X-API-Key': key }
  await requestPages({ client: pool, path: BASE + path, headers }, (body) => {
    const { data, pagination }: Page = JSON.parse(body)
    found.requests += 1
    found.days += data.length
    found.rows += data.reduce((sum, { rows = [] }) => sum + rows.length, 0)
    found.cursor = pagination.nextCursor ?? ''
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
    `with clock as (
       update daily.changes_clock set last = clock_timestamp()
       returning to_char(last at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as changed_at
     )
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
    [organizationId, count, METRICS],
  )
  await client.query('vacuum analyze')
  return key
}
