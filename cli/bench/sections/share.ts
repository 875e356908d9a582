import { SHARE_BASE } from '../../../lib/share/signed-url.ts'
import { peakHeap } from '../heap.ts'
import { mediansOf, meterOf, type Used } from '../meter.ts'
import { startOfficialClient } from '../official-client.ts'
import { costOf, priceOf, type Usage } from '../prices.ts'
import { figure, type Section, type Table } from '../section.ts'
import { alternate } from '../timing.ts'
import { type BrandYear, changeDays, download, requestPages, startBrandYear } from '../year.ts'

const ROUNDS = { reading: 5, publishing: 3 }
const LARGE_DAY = { date: '2026-11-21', rows: 200_000 }
/** What the rate limit sends to Upstash per request, as the section `cost` measures it. */
const REDIS_COMMANDS = 4
const BILLION = 1e9

/** What the share costs: to publish it, and to read it. */
export const section: Section = async (setting) => {
  await using its = await startBrandYear(setting)
  setting.report('the first publish')
  const published = await publishYear(its)
  setting.report('the official client')
  const reading = await measureReading(its, published)
  setting.report('a large day')
  const publishing = await describePublishing(its, published, setting.sized(LARGE_DAY.rows))
  return [reading.table, publishing, dollarsOf(published, reading)]
}

/** What a first publish wrote, and what it used. */
type Published = {
  /** Rows of the days, which thirds and months have again. */
  readonly rows: number
  readonly objects: number
  readonly bytes: number
  /** The objects that it read: thirds and months are made of those of their days. */
  readonly sources: number
  readonly used: Used
}

/** Empties the share. The objects stay. */
const clear = ({ client }: BrandYear) =>
  client.query('truncate daily.objects, daily.versions, daily.published_brands')

/** Publishes the year for the first time, in each round again. */
async function publishYear(its: BrandYear): Promise<Published> {
  const first = meterOf(its)(
    () => its.emulator.runCron('share-publish'),
    () => clear(its),
  )
  const used = mediansOf(await alternate({ first }, ROUNDS.publishing), 'first')
  const { rows } = await its.client.query<Omit<Published, 'used'>>(
    `select sum(rows) filter (where period = 'day')::int as rows, count(*)::int as objects, sum(bytes)::int as bytes,
       sum(sources)::int as sources
     from daily.objects as object
     cross join lateral (
       select count(*) as sources from daily.objects as day
       where object.period in ('third', 'month') and day.period = 'day' and day.removed is null
         and (day.metric, day.brand_id) = (object.metric, object.brand_id) and day.first between object.first and object.last
     ) as source
     where removed is null`,
  )
  const [written] = rows
  if (written === undefined) throw new Error('Nothing was published')
  return { ...written, used }
}

type Reading = {
  readonly table: Table
  /** What it took to read the year once, with the official client and as pages. */
  readonly client: Used
  readonly pages: Used
}

/** Reads a year with the official client, as bare files and as pages. */
async function measureReading(its: BrandYear, { rows }: Published): Promise<Reading> {
  const { emulator, key, pool, year } = its
  const response = await fetch(
    `${emulator.url}${SHARE_BASE}/shares/export/schemas/metrics/tables/citation_share/query`,
    {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}` },
      body: '{}',
    },
  )
  const files = [...(await response.text()).matchAll(/"url":"([^"]+)"/g)].map(([, url = '']) =>
    url.slice(emulator.url.length),
  )
  await using official = await startOfficialClient(emulator.url, key)
  const load = async (options: Parameters<typeof official.load>[0]) => {
    const loaded = await official.load(options)
    if (loaded !== rows) throw new Error(`The client loaded ${loaded} rows of ${rows}`)
  }
  const measure = meterOf(its)
  const measured = await alternate(
    {
      download: measure(async () => {
        for (const path of files) await download({ client: pool, path, headers: {} })
      }),
      // As docs/share.md recommends.
      client: measure(() => load({ convert_in_batches: true })),
      default: measure(() => load({})),
      pages: measure(() => requestPages(year)),
    },
    ROUNDS.reading,
  )
  const row = (name: string, way: 'download' | 'client' | 'default' | 'pages') => {
    const { ms, requests, consumed } = mediansOf(measured, way)
    return [name, ms / measured('download', (used) => used.ms), requests, consumed]
  }
  return {
    client: mediansOf(measured, 'client'),
    pages: mediansOf(measured, 'pages'),
    table: {
      title: `Reading ${figure(rows)} rows from ${figure(files.length)} files`,
      columns: ['', 'time', 'requests', 'of them count against the rate limit'],
      rows: [
        row('download of the files', 'download'),
        row('official client, `convert_in_batches=True`', 'client'),
        row('official client, by default', 'default'),
        row('JSON pages', 'pages'),
      ],
      note: `1 = every file downloaded whole, one after the other over one connection. Goal of \`convert_in_batches\`: at most 3. Medians of ${ROUNDS.reading} alternating rounds, without a rate limit and distance.`,
    },
  }
}

/** The throughput of a first publish, and the memory of the Worker that publishes a large day. */
async function describePublishing(
  its: BrandYear,
  { rows, objects, used }: Published,
  large: number,
): Promise<Table> {
  const { brandId, client, emulator } = its
  await client.query(
    `insert into daily.citation_share (brand_id, date, url_hash, url, domain, is_owned, citations, owned_citations)
     select $1, $2, md5(n::text)::uuid, 'https://www.big-day.example/articles/2026/' || md5(n::text) || '-review',
       'big-day.example', false, n % 40, 0
     from generate_series(1, $3::int) as n`,
    [brandId, LARGE_DAY.date, large],
  )
  await changeDays(its, [LARGE_DAY.date])
  const heap = await peakHeap(emulator, 'share-publish', () => emulator.runCron('share-publish'))
  const perSecond = (count: number) => Math.round((1000 * count) / used.ms)
  return {
    title: 'Publishing',
    columns: ['', 'rows', 'objects', 'objects a second', 'rows a second', 'heap of the Worker, MiB'],
    rows: [
      [
        'a year of one brand and table, for the first time',
        rows,
        objects,
        perSecond(objects),
        perSecond(rows),
        '',
      ],
      ['one day', large, '', '', '', heap],
    ],
    note: 'Heap: the most of many looks, each after a collection of garbage. Looks happen while the Worker waits. Cloudflare ends a Worker at 128 MB.',
  }
}

/** What a billion rows cost their first and their second reader, next to pages. */
function dollarsOf(published: Published, { client, pages }: Reading): Table {
  const scaled = (dollars: number) => (dollars * BILLION) / published.rows
  const serviceOf = ({ workerCpuMs, postgresCpuMs, transferredBytes, requests, consumed }: Used): Usage => ({
    workerCpuMs,
    postgresCpuMs,
    transferredBytes,
    requests,
    redisCommands: consumed * REDIS_COMMANDS,
  })
  const asPages = scaled(costOf(serviceOf(pages)))
  // A query also asks whether the bucket answers.
  const objectReads = client.requests - client.consumed + 1
  const read = scaled(costOf({ ...serviceOf(client), objectReads }))
  const toPublish = {
    ...serviceOf(published.used),
    objectWrites: published.objects,
    objectReads: published.sources,
  }
  const publish = scaled(costOf(toPublish))
  const stored = scaled(priceOf('objectBytes', published.bytes))
  const part = (name: string, item: 'transferredBytes' | 'objectWrites') => [
    name,
    '',
    scaled(priceOf(item, toPublish[item] ?? 0)).toFixed(2),
  ]
  return {
    title: 'Dollars for a billion rows of citation share',
    columns: ['reader', 'JSON pages', 'share'],
    rows: [
      [
        'first: published, stored for a month and read',
        asPages.toFixed(2),
        (publish + stored + read).toFixed(2),
      ],
      ['of it published', '', publish.toFixed(2)],
      part('of that, transfer from Neon', 'transferredBytes'),
      part('of that, writes to R2', 'objectWrites'),
      ['of it stored', '', stored.toFixed(2)],
      ['second: read again, with `convert_in_batches=True`', asPages.toFixed(2), read.toFixed(2)],
    ],
    note: `A brand's year, times ${Math.round(BILLION / published.rows)}; list prices of the section cost, and of R2. CPU is that of this machine, and that of workerd includes the imitation of R2.`,
  }
}
