import { PAGE_SIZE } from '../../../lib/rows/size.ts'
import { peakHeap } from '../heap.ts'
import { meterOf, type Used } from '../meter.ts'
import { figure, type Section } from '../section.ts'
import { alternate } from '../timing.ts'
import { download, requestPages, startBrandYear, type Year } from '../year.ts'

const FORMATS = ['csv', 'ndjson'] as const
const ROUNDS = 3

/** Milliseconds to each server, and the part of the pages' time that a file may take. */
const DISTANCES = [
  { name: 'no distance', neon: 0, upstash: 0, goal: 0.7 },
  { name: 'Neon 20 ms away', neon: 20, upstash: 0, goal: 0.5 },
  { name: 'Neon and Upstash 20 ms away', neon: 20, upstash: 20, goal: '' },
] as const

/** What a year as one file costs, compared with its JSON pages, and the memory of the Worker that sends it. */
export const section: Section = async (setting) => {
  await using its = await startBrandYear(setting)
  const { client, brandId, emulator, state, year } = its
  const { report } = setting
  const { rowCount } = await client.query('select from daily.citation_share where brand_id = $1', [brandId])
  const pageCount = Math.ceil((rowCount ?? 0) / PAGE_SIZE)
  const measure = meterOf(its)
  const ratios: (string | number)[][] = []
  for (const { name, neon, upstash, goal } of DISTANCES) {
    Object.assign(state, { neon, upstash })
    report(`${ROUNDS} rounds, ${name}`)
    const measured = await alternate(
      {
        pages: measure(() => requestPages(year)),
        csv: measure(() => download(fileOf(year, 'csv'))),
        ndjson: measure(() => download(fileOf(year, 'ndjson'))),
      },
      ROUNDS,
    )
    const add = (what: string, value: (used: Used) => number, goal: number | string) =>
      ratios.push([
        what,
        ...FORMATS.map((format) => measured(format, value) / measured('pages', value)),
        goal,
      ])
    add(`time, ${name}`, ({ ms }) => ms, goal)
    if (neon > 0) continue
    add('CPU of workerd and PostgreSQL', ({ workerCpuMs, postgresCpuMs }) => workerCpuMs + postgresCpuMs, '')
    add('requests that count against the rate limit', ({ consumed }) => consumed, 1)
  }
  const heaps: (string | number)[][] = []
  for (const format of FORMATS)
    for (const encoding of ['identity', 'gzip']) {
      report(`heap: ${format}, ${encoding}`)
      const send = () => download(fileOf(year, format, encoding))
      heaps.push([`${format}, ${encoding}`, await peakHeap(emulator, 'citation-share', send)])
    }
  return [
    {
      title: `A file of ${figure(rowCount ?? 0)} rows, compared with its ${figure(pageCount)} JSON pages`,
      columns: ['', 'CSV', 'NDJSON', 'goal'],
      rows: ratios,
      note: `1 = the pages one after the other, over one connection. Medians of ${ROUNDS} alternating rounds, without a rate limit.`,
    },
    {
      title: 'Heap of the Worker that sends the file, MiB',
      columns: ['file', 'heap'],
      rows: heaps,
      note: 'The most of many looks, each after a collection of garbage.',
    },
  ]
}

const fileOf = (year: Year, format: (typeof FORMATS)[number], encoding = 'identity'): Year => ({
  ...year,
  path: `${year.path}&format=${format}`,
  headers: { ...year.headers, 'Accept-Encoding': encoding },
})
