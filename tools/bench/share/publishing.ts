import { sum } from 'd3-array'
import { addDays } from '../../../connectors/typescript/cli/days.ts'
import { type BrandYear, changeDays, listDays } from '../brand-year.ts'
import { peakHeapOfRun } from '../heap.ts'
import { figure, type Setting, type Table } from '../section.ts'
import { alternate } from '../timing.ts'
import { LAST_DAY } from '../volume.ts'
import { pages, yearOf } from '../year.ts'
import { mediansOf, meterOf, type Used } from './meter.ts'

const ROUNDS = 3
const CHANGED_DAYS = 30
const WITH_PERIODS = `${CHANGED_DAYS}, with their thirds and months`
const BIG_DAY = { date: addDays(LAST_DAY, 1), rows: 200_000 }

/** The limit of a Worker's memory. */
const MOST_MIB = 128

/** What a first publish wrote, and what it used. */
export type Published = {
  readonly rows: number
  readonly objects: number
  readonly bytes: number
  /** The objects that it read: thirds and months are made of those of their days. */
  readonly sources: number
  readonly used: Used
  /** What it wrote of the sets of each period. */
  readonly periods: readonly Period[]
}

type Period = {
  readonly period: string
  readonly sets: number
  readonly rows: number
  readonly objects: number
  readonly bytes: number
  readonly sources: number
}

/** Empties the share. The objects stay. */
const clear = (client: BrandYear['client']) =>
  client.query(
    'truncate daily.files, daily.staged_files, daily.parts, daily.deletions, daily.versions, daily.published_brands',
  )

/** Publishes the year for the first time, in each round again. */
export async function publishYear(year: BrandYear): Promise<Published> {
  const { client, emulator } = year
  const first = meterOf(year)(
    () => emulator.runCron('publish'),
    () => clear(client),
  )
  const measured = await alternate({ first }, ROUNDS)
  const { rows: periods } = await client.query<Period>(
    `select period, count(distinct (metric, brand_id, first))::int as sets, sum(rows)::int as rows,
       count(*)::int as objects, sum(bytes)::int as bytes, sum(sources)::int as sources
     from daily.files as file
     cross join lateral (
       select count(*) as sources from daily.files as day
       where file.period in ('third', 'month') and day.period = 'day' and day.removed is null
         and (day.metric, day.brand_id) = (file.metric, file.brand_id) and day.first between file.first and file.last
     ) as source
     where removed is null group by period order by period`,
  )
  return {
    sources: sum(periods, ({ sources }) => sources),
    rows: periods.find(({ period }) => period === 'day')?.rows ?? Number.NaN,
    objects: sum(periods, ({ objects }) => objects),
    bytes: sum(periods, ({ bytes }) => bytes),
    used: mediansOf(measured, 'first'),
    periods,
  }
}

/** What it costs to publish changed days, compared with reading them as pages. */
export async function compareWithPages(year: BrandYear): Promise<Table> {
  const measure = meterOf(year)
  const { brandId, key, pool } = year
  const daysOf = (count: number) => Array.from({ length: count }, (_, ago) => addDays(LAST_DAY, -ago))
  const publish = (count: number, periods = false) =>
    measure(
      () => year.emulator.runCron('publish'),
      async () => {
        await changeDays(year, daysOf(count))
        if (periods) await year.client.query('update daily.published_brands set periods_due_at = now()')
      },
    )
  const read = (count: number) =>
    measure(async () => {
      const { path, ...requests } = yearOf(pool, { brandId, key })
      for (const day of daysOf(count)) {
        const ofDay = path.replace(/fromDate=.*/, `fromDate=${day}&toDate=${day}`)
        for await (const _ of pages({ ...requests, path: ofDay }));
      }
    })
  const measured = await alternate(
    {
      'publish 1': publish(1),
      'read 1': read(1),
      [`publish ${CHANGED_DAYS}`]: publish(CHANGED_DAYS),
      [WITH_PERIODS]: publish(CHANGED_DAYS, true),
      [`read ${CHANGED_DAYS}`]: read(CHANGED_DAYS),
    },
    3 * ROUNDS,
  )
  const row = (name: string, way: string, count: number) => {
    const ratio = (value: (used: Used) => number) => measured(way, value) / measured(`read ${count}`, value)
    return [
      name,
      ratio(({ ms }) => ms),
      ratio(({ postgresCpuMs }) => postgresCpuMs),
      ratio(({ workerCpuMs }) => workerCpuMs),
      ratio(({ transferredBytes }) => transferredBytes),
    ]
  }
  return {
    title: 'Publishing changed days, compared with reading them as JSON pages',
    columns: ['days in a run', 'time', 'CPU of PostgreSQL', 'CPU of workerd', 'bytes from Neon'],
    rows: [
      row('1', 'publish 1', 1),
      row(`${CHANGED_DAYS}`, `publish ${CHANGED_DAYS}`, CHANGED_DAYS),
      row(WITH_PERIODS, WITH_PERIODS, CHANGED_DAYS),
    ],
    note: `1 = the pages of these days, one after the other over one connection. A day of 1,250 rows has two pages. The CPU of workerd includes the imitation of R2. Goal of time and CPU of PostgreSQL: at most 2. Medians of ${3 * ROUNDS} alternating rounds, no distance.`,
  }
}

/** The throughput of a first publish, and the memory of its Worker. */
export async function measureMemory(
  { client, emulator, brandId }: BrandYear,
  { published, sized, report }: Pick<Setting, 'sized' | 'report'> & { readonly published: Published },
): Promise<Table> {
  await clear(client)
  const year = await peakHeapOfRun(emulator, 'publish')
  const rows = sized(BIG_DAY.rows)
  report(`a day of ${figure(rows)} rows`)
  await client.query(
    `insert into daily.citation_share (brand_id, date, url_hash, url, domain, is_owned, citations, owned_citations)
     select $1, $2, md5(n::text)::uuid, 'https://www.big-day.example/articles/2026/' || md5(n::text) || '-review',
       'big-day.example', false, 1 + n % 40, 0
     from generate_series(1, $3::int) as n`,
    [brandId, BIG_DAY.date, rows],
  )
  await listDays(client, { brandId, days: [BIG_DAY.date] })
  const bigDay = await peakHeapOfRun(emulator, 'publish')
  const perSecond = (count: number) => Math.round((1000 * count) / published.used.ms)
  return {
    title: 'A first publish',
    columns: ['', 'rows', 'objects', 'sets a second', 'rows a second', 'heap of the Worker, MiB'],
    rows: [
      [
        'a year of one brand and table, with its thirds and months',
        published.rows,
        published.objects,
        perSecond(sum(published.periods, ({ sets }) => sets)),
        perSecond(published.rows),
        year,
      ],
      ['a day', rows, await objectsOf(client), '', '', bigDay],
    ],
    note: `Heap: the most of many looks, each after a collection of garbage. Looks happen while the Worker waits for Neon or R2, and few of them while it makes a month. Goal: below ${MOST_MIB}, where Cloudflare ends a Worker. Rows are those of the days; thirds and months hold them again.`,
  }
}

async function objectsOf(client: BrandYear['client']): Promise<number> {
  const { rows } = await client.query<{ objects: number }>(
    'select count(*)::int as objects from daily.files where first = $1 and last = $1',
    [BIG_DAY.date],
  )
  return rows[0]?.objects ?? Number.NaN
}
