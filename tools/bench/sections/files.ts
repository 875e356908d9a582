import { createHash, randomUUID } from 'node:crypto'
import type { Emulator } from '../../../emulator/start.ts'
import { BASE } from '../../../lib/app.ts'
import type { FileFormat } from '../../../lib/file/format.ts'
import { PAGE_SIZE } from '../../../lib/page/statements.ts'
import { heaps, peakHeap } from '../../soak/heap.ts'
import { type BrandYear, withBrandYear } from '../brand-year.ts'
import { backendsOf, cpuOf, cpuUsed, workerdOf } from '../cpu.ts'
import { connect } from '../http.ts'
import { FIRST_DAY } from '../million.ts'
import { figure, type Section, type Table } from '../section.ts'
import { alternate, timed } from '../timing.ts'
import { LAST_DAY } from '../volume.ts'
import { download, ENCODINGS, pull, type Year } from '../year.ts'

const PATH = '/citation-share'
const FORMATS = ['csv', 'ndjson'] as const satisfies readonly FileFormat[]
const ROUNDS = 3
const MOST_GROWTH_MIB = 32

/** Milliseconds to each server, and the part of the pages' time that a file may take. */
const DISTANCES = [
  { name: 'no distance', neon: 0, upstash: 0, goal: 0.7 },
  { name: 'Neon 20 ms away', neon: 20, upstash: 0, goal: 0.5 },
  { name: 'Neon and Upstash 20 ms away', neon: 20, upstash: 20, goal: '' },
] as const

/** What a year as one file costs, compared with its JSON pages. */
export const section: Section = (setting) =>
  withBrandYear(setting, async ({ client, key, brandId, emulator, state }) => {
    const pool = connect(emulator.url, 1)
    try {
      const year: Year = {
        client: pool,
        path: `${BASE}${PATH}?brandId=${brandId}&fromDate=${FIRST_DAY}&toDate=${LAST_DAY}`,
        headers: { 'X-API-Key': key, 'User-Agent': randomUUID() },
      }
      setting.report('the same rows')
      const rows = await compareRows(year)
      return [
        await compareCosts(year, { ...setting, client, state, rows }),
        await measureHeap(year, { ...setting, emulator }),
      ]
    } finally {
      await pool.close()
    }
  })

/** Throws unless the files have the rows of the pages, in NDJSON byte for byte. Returns their number. */
async function compareRows(year: Year): Promise<number> {
  const pages = createHash('sha256')
  let rows = 0
  await pull(year, (body) => {
    const text = body.toString()
    // A page has a row per line.
    const lines = text.slice('{"data":['.length, text.lastIndexOf('],"pagination":')).split(',\n')
    rows += lines.length
    for (const line of lines) pages.update(`${line}\n`)
  })
  const expected = pages.digest('hex')
  for (const encoding of ENCODINGS) {
    const file = createHash('sha256')
    await download(year, { format: 'ndjson', encoding }, (bytes) => file.update(bytes))
    if (file.digest('hex') !== expected) throw new Error('The NDJSON file has other rows than the pages')
    let lines = 0
    await download(year, { format: 'csv', encoding }, (bytes) => {
      for (const byte of bytes) lines += byte === 0x0a ? 1 : 0
    })
    if (lines !== rows + 1) throw new Error(`The CSV file has ${lines} lines for ${rows} rows and a header`)
  }
  return rows
}

type Comparison = Pick<BrandYear, 'client' | 'state'> & {
  readonly rows: number
  readonly report: (progress: string) => void
}

type Cost = { readonly ms: number; readonly cpu: number; readonly consumed: number }

async function compareCosts(year: Year, { client, state, rows, report }: Comparison): Promise<Table> {
  const cpu = async () => cpuOf([...workerdOf(process.pid), ...(await backendsOf(client))])
  const cost = (work: () => Promise<void>) => async (): Promise<Cost> => {
    const before = { cpu: await cpu(), consumed: state.consumed }
    const ms = await timed(work)
    return { ms, cpu: cpuUsed(before.cpu, await cpu()), consumed: state.consumed - before.consumed }
  }
  const pages = Math.ceil(rows / PAGE_SIZE)
  const results: (string | number)[][] = []
  for (const { name, neon, upstash, goal } of DISTANCES) {
    Object.assign(state, { neon, upstash })
    report(`${ROUNDS} rounds, ${name}`)
    const measured = await alternate(
      {
        pages: cost(() => pull(year)),
        csv: cost(() => download(year, { format: 'csv' })),
        ndjson: cost(() => download(year, { format: 'ndjson' })),
      },
      ROUNDS,
    )
    const ratios = (value: (cost: Cost) => number) =>
      FORMATS.map((format) => measured(format, value) / measured('pages', value))
    results.push([`time, ${name}`, ...ratios(({ ms }) => ms), goal])
    if (neon > 0) continue
    results.push(['CPU of workerd and PostgreSQL', ...ratios(({ cpu }) => cpu), ''])
    const units = FORMATS.map((format) => measured(format, ({ consumed }) => consumed) / pages)
    results.push(['requests of the budget', ...units, 1])
  }
  return {
    title: `A file of ${figure(rows)} rows, compared with its ${figure(pages)} JSON pages`,
    columns: ['', 'CSV', 'NDJSON', 'goal'],
    rows: results,
    note: `1 = the pages one after the other, over one connection. Medians of ${ROUNDS} alternating rounds, with a budget that always has requests left. The NDJSON file has the rows of the pages byte for byte.`,
  }
}

type Measurement = { readonly emulator: Emulator; readonly report: (progress: string) => void }

async function measureHeap(year: Year, { emulator, report }: Measurement): Promise<Table> {
  const service = { url: emulator.url, inspector: emulator.inspectorUrl ?? '' }
  const heap = async () => (await heaps(service, [PATH])).get(PATH) ?? Number.NaN
  const results: (string | number)[][] = []
  for (const format of FORMATS) {
    for (const encoding of ENCODINGS) {
      const send = () => download(year, { format, encoding })
      const before = await heap()
      const peak = await peakHeap(service, PATH, send)
      const after = await heap()
      const during = await peakHeap(service, PATH, send, true)
      report(`${format}, ${encoding}: ${figure(during)} MiB`)
      const growth = Math.max(during, after) - before
      results.push([`${format}, ${encoding}`, before, during, after, growth, peak])
    }
  }
  return {
    title: 'Heap of the Worker that sends the file, MiB',
    columns: ['file', 'before', 'during', 'after', 'growth', 'during, with garbage'],
    rows: results,
    note: `After a collection of garbage each, except in the last column; during a file, the most of many looks. Goal: growth below ${MOST_GROWTH_MIB}.`,
  }
}
