import { SHARE_BASE } from '../../../lib/share/signed-url.ts'
import { meterOf, type Used } from '../measure.ts'
import { costOf, priceOf, type Usage } from '../prices.ts'
import { figure, type Section } from '../section.ts'
import { type BrandYear, download, requestPages, startBrandYear } from '../year.ts'

/** What the rate limit sends to Upstash per request, as the section `cost` measures it. */
const REDIS_COMMANDS = 4
const BILLION = 1e9

/** What the share costs: to publish it, and to read it, next to pages. */
export const section: Section = async (setting) => {
  await using its = await startBrandYear(setting)
  const { emulator, pool, year } = its
  const measure = meterOf(its)
  setting.report('the first publish')
  const publishing = await measure(() => emulator.runCron('share-publish'))
  const published = await readPublished(its)
  setting.report('reading')
  const files = async () => {
    for (const path of await query(its)) await download({ client: pool, path, headers: {} })
  }
  // The first time warms up.
  await files()
  const share = await measure(files)
  await requestPages(year)
  const pages = await measure(() => requestPages(year))

  const scaled = (dollars: number) => ((dollars * BILLION) / published.rows).toFixed(2)
  const asPages = scaled(costOf(usageOf(pages)))
  // A query also asks whether the bucket answers.
  const read = costOf({ ...usageOf(share), objectReads: share.requests })
  const toPublish = {
    ...usageOf(publishing),
    objectWrites: published.objects,
    objectReads: published.sources,
  }
  const stored = priceOf('objectBytes', published.bytes)
  const rowOf = (name: string, { ms, requests, consumed }: Used) => [name, ms / pages.ms, requests, consumed]
  return [
    {
      title: `Reading ${figure(published.rows)} rows`,
      columns: ['', 'time', 'requests', 'of them count against the rate limit'],
      rows: [rowOf('JSON pages', pages), rowOf('share: the query, and each object whole', share)],
      note: '1 = the pages. One request after the other over one connection, without a rate limit.',
    },
    {
      title: 'Dollars for a billion rows of citation share',
      columns: ['reader', 'JSON pages', 'share'],
      rows: [
        ['first: published, stored for a month and read', asPages, scaled(costOf(toPublish) + stored + read)],
        ['of it published', '', scaled(costOf(toPublish))],
        ['of that, transfer from Neon', '', scaled(priceOf('transferredBytes', publishing.transferredBytes))],
        ['of that, writes to R2', '', scaled(priceOf('objectWrites', published.objects))],
        ['of it stored', '', scaled(stored)],
        ['second: read again', asPages, scaled(read)],
      ],
      note: `A brand's year, times ${Math.round(BILLION / published.rows)}, published as ${published.objects} objects; list prices of the section cost, and of R2. CPU is that of this machine, and that of workerd includes the imitation of R2.`,
    },
  ]
}

/** What a first publish wrote. */
type Published = {
  /** Rows of the days, which thirds and months have again. */
  readonly rows: number
  readonly objects: number
  readonly bytes: number
  /** The objects that it read: thirds and months are made of those of their days. */
  readonly sources: number
}

async function readPublished({ client }: BrandYear): Promise<Published> {
  const { rows } = await client.query<Published>(
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
  const [published] = rows
  if (published === undefined) throw new Error('Nothing was published')
  return published
}

/** Asks for a year of a table, as a client of the share does. Returns the paths of its objects. */
async function query({ emulator, key }: BrandYear): Promise<string[]> {
  const path = `${SHARE_BASE}/shares/export/schemas/metrics/tables/citation_share/query`
  const request = { method: 'POST', headers: { Authorization: `Bearer ${key}` }, body: '{}' }
  const text = await (await fetch(emulator.url + path, request)).text()
  return [...text.matchAll(/"url":"([^"]+)"/g)].map(([, url = '']) => url.slice(emulator.url.length))
}

const usageOf = ({ workerCpuMs, postgresCpuMs, transferredBytes, requests, consumed }: Used): Usage => ({
  workerCpuMs,
  postgresCpuMs,
  transferredBytes,
  requests,
  redisCommands: consumed * REDIS_COMMANDS,
})
