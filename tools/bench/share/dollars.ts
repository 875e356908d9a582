import { sum } from 'd3-array'
import { PAGE_SIZE } from '../../../lib/page/statements.ts'
import { costOf, type Usage } from '../prices.ts'
import type { Table } from '../section.ts'
import type { Used } from './meter.ts'
import type { Published } from './publishing.ts'
import type { Reading } from './reading.ts'

/** What the rate limit sends to Upstash per request, as the section `cost` measures it. */
const REDIS_COMMANDS = 4

const BILLION = 1e9
const TABLES = 6

/** What a billion rows cost their first and their second reader, next to pages. */
export function dollarsOfReaders(
  published: Published,
  { files, requestsPerFile, ...reading }: Reading,
): Table {
  const { rows } = published
  const scaled = (dollars: number) => (dollars * BILLION) / rows
  const serviceOf = ({ workerCpuMs, postgresCpuMs, transferredBytes }: Used) => ({
    workerCpuMs,
    postgresCpuMs,
    transferredBytes,
  })
  const pages = scaled(
    costOf({
      ...serviceOf(reading.pages),
      requests: Math.ceil(rows / PAGE_SIZE),
      redisCommands: Math.ceil(rows / PAGE_SIZE) * REDIS_COMMANDS,
    }),
  )
  const requests = files * requestsPerFile
  const read = scaled(
    costOf({
      ...serviceOf(reading.client),
      requests: requests + reading.client.consumed,
      redisCommands: reading.client.consumed * REDIS_COMMANDS,
      // A query also asks whether the bucket answers.
      objectReads: requests + 1,
    }),
  )
  const usedToPublish: Usage = {
    ...serviceOf(published.used),
    objectWrites: published.objects,
    objectReads: published.sources,
  }
  const publish = scaled(costOf(usedToPublish))
  const part = (name: string, item: keyof Usage) => [
    name,
    '',
    scaled(costOf({ [item]: usedToPublish[item] })).toFixed(2),
  ]
  const month = scaled(costOf({ objectBytes: published.bytes }))
  return {
    title: 'Dollars for a billion rows of citation share',
    columns: ['reader', 'JSON pages', 'share'],
    rows: [
      [
        'first: published, stored for a month and read',
        pages.toFixed(2),
        (publish + month + read).toFixed(2),
      ],
      ['of it published', '', publish.toFixed(2)],
      part('of that, transfer from Neon', 'transferredBytes'),
      part('of that, CPU of Neon', 'postgresCpuMs'),
      part('of that, CPU of Workers', 'workerCpuMs'),
      part('of that, writes to R2', 'objectWrites'),
      part('of that, reads from R2', 'objectReads'),
      ['of it stored', '', month.toFixed(2)],
      ['second: read again', pages.toFixed(2), read.toFixed(2)],
    ],
    note: `A brand's year, times ${Math.round(BILLION / rows)}; list prices of the section cost, and of R2: $4.50 per million writes, $0.36 per million reads, $0.015 per GB and month. The official client sends ${requestsPerFile.toFixed(1)} requests per file, each one request to a Worker and one read of R2. CPU is that of this machine, and that of workerd includes the imitation of R2. The limiter's ${REDIS_COMMANDS} commands are those of the section cost.`,
  }
}

/** What the sets of each period cost in writes, reads and storage, for a billion rows. */
export function dollarsOfPeriods({ rows, periods }: Published): Table {
  const scaled = (dollars: number) => ((dollars * BILLION) / rows).toFixed(2)
  return {
    title: 'The sets of a first publish, and their dollars for a billion rows of citation share',
    columns: ['sets', 'rows', 'objects', 'MiB', 'writes', 'reads', 'a month of storage'],
    rows: periods.map(({ period, rows, objects, bytes, sources }) => [
      period,
      rows,
      objects,
      bytes / 1024 ** 2,
      scaled(costOf({ objectWrites: objects })),
      scaled(costOf({ objectReads: sources })),
      scaled(costOf({ objectBytes: bytes })),
    ]),
  }
}

/** What the requests of the publisher to R2 cost, by the interval of the publisher. */
export function dollarsOfWrites({ periods, sources }: Published): Table[] {
  const BRANDS = [100, 1000, 10_000]
  const columns = BRANDS.map((brands) => `${brands.toLocaleString('en')} brands`)
  const setsPerYear = sum(periods, ({ period, sets }) => (period === 'brand' ? 0 : sets))
  const ofYear = (brands: number) =>
    costOf({ objectWrites: setsPerYear * brands * TABLES, objectReads: sources * brands * TABLES })
  const perDay = (minutes: number) =>
    BRANDS.map((brands) => costOf({ objectWrites: (1440 / minutes) * brands * TABLES }).toFixed(2))
  return [
    {
      title: 'Dollars a day for writes to R2',
      columns: ['a run', ...columns],
      rows: [
        ['every minute', ...perDay(1)],
        ['every 5 minutes', ...perDay(5)],
        ['every hour', ...perDay(60)],
      ],
      note: `Today's day of each brand and ${TABLES} tables changes all day long, at list price. A day that is not written to costs nothing. A third and a month are written at most once an hour, and only when one of their days has changed.`,
    },
    {
      title: 'Dollars for the requests to R2 of a first publish',
      columns: ['history', ...columns],
      rows: [['a year', ...BRANDS.map((brands) => ofYear(brands).toFixed(2))]],
      note: `${setsPerYear} sets of each brand and table: its days, thirds and months. For these, ${sources} objects of days are read.`,
    },
  ]
}
