import { PAGE_SIZE } from '../../../lib/page/statements.ts'
import { costOf } from '../prices.ts'
import type { Table } from '../section.ts'
import type { Used } from './meter.ts'
import type { Published } from './publishing.ts'
import type { Reading } from './reading.ts'

/** What the rate limit sends to Upstash per request, as the section `cost` measures it. */
const REDIS_COMMANDS = 4

const BILLION = 1e9
const TABLES = 6
const DAYS_PER_YEAR = 365

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
  const publish = scaled(costOf({ ...serviceOf(published.used), objectWrites: published.objects }))
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
      ['of it stored', '', month.toFixed(2)],
      ['second: read again', pages.toFixed(2), read.toFixed(2)],
    ],
    note: `A brand's year, times ${Math.round(BILLION / rows)}; list prices of the section cost, and of R2: $4.50 per million writes, $0.36 per million reads, $0.015 per GB and month. The official client sends ${requestsPerFile.toFixed(1)} requests per file, each one request to a Worker and one read of R2. CPU is that of this machine, and that of workerd includes the imitation of R2. The limiter's ${REDIS_COMMANDS} commands are those of the section cost.`,
  }
}

/** What the writes of changed days cost, by the interval of the publisher. */
export function dollarsOfWrites(): Table[] {
  const BRANDS = [100, 1000, 10_000]
  const columns = BRANDS.map((brands) => `${brands.toLocaleString('en')} brands`)
  const writes = (objects: number) => costOf({ objectWrites: objects })
  const perDay = (minutes: number) =>
    BRANDS.map((brands) => writes((1440 / minutes) * brands * TABLES).toFixed(2))
  return [
    {
      title: 'Dollars a day for writes to R2',
      columns: ['a run', ...columns],
      rows: [
        ['every minute', ...perDay(1)],
        ['every 5 minutes', ...perDay(5)],
        ['every hour', ...perDay(60)],
      ],
      note: `Today's day of each brand and ${TABLES} tables changes all day long, at list price. A day that is not written to costs nothing.`,
    },
    {
      title: 'Dollars for the writes of a first publish',
      columns: ['history', ...columns],
      rows: [['a year', ...BRANDS.map((brands) => writes(DAYS_PER_YEAR * brands * TABLES).toFixed(2))]],
      note: `A set per day, brand and table. The months that no limited plan reads add one set per month.`,
    },
  ]
}
