import type { Emulator } from '../../../emulator/start.ts'
import type { FileFormat } from '../../../lib/file/format.ts'
import { PAGE_SIZE } from '../../../lib/page/statements.ts'
import { type BrandYear, withBrandYear } from '../brand-year.ts'
import { backendsOf, cpuOf, cpuUsed, workerdOf } from '../cpu.ts'
import { heapSize, peakHeap } from '../heap.ts'
import { figure, type Section, type Table } from '../section.ts'
import { alternate, timed } from '../timing.ts'
import { download, ENCODINGS, pages, type Year } from '../year.ts'

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
  withBrandYear(setting, async ({ client, brandId, emulator, state, year }) => {
    const { rowCount } = await client.query('select from daily.citation_share where brand_id = $1', [brandId])
    return [
      await compareCosts(year, { ...setting, client, state, rows: rowCount ?? 0 }),
      await measureHeap(year, { ...setting, emulator }),
    ]
  })

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
  const pageCount = Math.ceil(rows / PAGE_SIZE)
  const results: (string | number)[][] = []
  for (const { name, neon, upstash, goal } of DISTANCES) {
    Object.assign(state, { neon, upstash })
    report(`${ROUNDS} rounds, ${name}`)
    const measured = await alternate(
      {
        pages: cost(async () => {
          for await (const _ of pages(year));
        }),
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
    const units = FORMATS.map((format) => measured(format, ({ consumed }) => consumed) / pageCount)
    results.push(['requests of the budget', ...units, 1])
  }
  return {
    title: `A file of ${figure(rows)} rows, compared with its ${figure(pageCount)} JSON pages`,
    columns: ['', 'CSV', 'NDJSON', 'goal'],
    rows: results,
    note: `1 = the pages one after the other, over one connection. Medians of ${ROUNDS} alternating rounds, with a budget that always has requests left.`,
  }
}

type Measurement = { readonly emulator: Emulator; readonly report: (progress: string) => void }

async function measureHeap(year: Year, { emulator, report }: Measurement): Promise<Table> {
  const results: (string | number)[][] = []
  for (const format of FORMATS) {
    for (const encoding of ENCODINGS) {
      const send = () => download(year, { format, encoding })
      const before = await heapSize(emulator, PATH)
      const during = await peakHeap(emulator, PATH, send)
      report(`${format}, ${encoding}: ${figure(during)} MiB`)
      results.push([`${format}, ${encoding}`, before, during, await heapSize(emulator, PATH)])
    }
  }
  return {
    title: 'Heap of the Worker that sends the file, MiB',
    columns: ['file', 'before', 'during', 'after'],
    rows: results,
    note: `After a collection of garbage each; during a file, the most of many looks. Goal: growth below ${MOST_GROWTH_MIB}.`,
  }
}
