import type { BrandYear } from '../brand-year.ts'
import { figure, type Table } from '../section.ts'
import { alternate } from '../timing.ts'
import { pages } from '../year.ts'
import { mediansOf, meterOf, type Used } from './meter.ts'
import { withOfficialClient } from './official-client.ts'
import { copyShare, serveFromBucket, serveFromMemory } from './static-server.ts'

const ROUNDS = 5

type Way = 'download' | 'client' | 'default' | 'bucket' | 'memory' | 'pages'

/** As docs/share.md recommends. */
const RECOMMENDED = { convert_in_batches: true }

const GOAL = { files: 40, times: 3 }

/** What it took to read the year once with the official client, as recommended, and as pages. */
export type Reading = {
  readonly table: Table
  readonly requestsPerFile: number
  readonly files: number
  readonly client: Used
  readonly pages: Used
}

/** Reads a year with the official client, from the share and from static copies of it, and as pages. */
export async function measureReading(year: BrandYear, { rows }: { readonly rows: number }): Promise<Reading> {
  const { emulator, key, pool } = year
  const measure = meterOf(year)
  const copy = await copyShare(emulator.url, key)
  const files = copy.urls.length
  const memory = await serveFromMemory(copy)
  const bucket = await serveFromBucket(copy)
  try {
    const { measured, requestsPerFile, defaultRequests } = await withOfficialClient(key, async (load) => {
      const loadAll = async (...source: Parameters<typeof load>) => {
        const loaded = await load(...source)
        if (loaded.rows !== rows) throw new Error(`The client loaded ${loaded.rows} rows of ${rows}`)
      }
      const requestsOf = async (options: Parameters<typeof load>[1]) => {
        const before = memory.requests()
        await loadAll(memory.origin, options)
        return memory.requests() - before
      }
      return {
        requestsPerFile: (await requestsOf(RECOMMENDED)) / files,
        defaultRequests: await requestsOf({}),
        measured: await alternate(
          {
            download: measure(async () => {
              for (const url of copy.urls) {
                const path = url.slice(emulator.url.length)
                await (await pool.request({ path, method: 'GET' })).body.bytes()
              }
            }),
            client: measure(() => loadAll(emulator.url, RECOMMENDED)),
            default: measure(() => loadAll(emulator.url)),
            bucket: measure(() => loadAll(bucket.origin, RECOMMENDED)),
            memory: measure(() => loadAll(memory.origin, RECOMMENDED)),
            pages: measure(async () => {
              for await (const _ of pages(year.year));
            }),
          },
          ROUNDS,
        ),
      }
    })
    const ms = (way: Way) => measured(way, (used) => used.ms)
    const consumed = (way: Way) => measured(way, (used) => used.consumed)
    const requests = Math.round(requestsPerFile * files) + 2
    const bytes = [...copy.files.values()].reduce((sum, { length }) => sum + length, 0)
    const row = (name: string, way: Way, sent: number) => [
      name,
      ms(way) / ms('download'),
      sent,
      consumed(way) || '',
    ]
    return {
      requestsPerFile,
      files,
      client: mediansOf(measured, 'client'),
      pages: mediansOf(measured, 'pages'),
      table: {
        title: `Reading ${figure(rows)} rows from ${figure(files)} files of together ${figure(bytes / 1024 ** 2)} MiB`,
        columns: ['', 'time', 'requests', 'of them count against the rate limit'],
        rows: [
          row('download of the files', 'download', files),
          row('official client, `convert_in_batches`', 'client', requests),
          row('official client, by default', 'default', defaultRequests + 2),
          row('`convert_in_batches`, from a static Worker over R2', 'bucket', requests),
          row('`convert_in_batches`, from a static server in memory', 'memory', requests),
          row('JSON pages', 'pages', consumed('pages')),
        ],
        note: `1 = every file downloaded whole, one after the other over one connection. Goal of \`convert_in_batches\`: at most ${GOAL.times}, and at most ${GOAL.files} files. The static servers send the same responses and files without any check, one over the emulator's R2, one by Node from memory. \`convert_in_batches\`, from the share to the static Worker: ${figure(ms('client') / ms('bucket'))}; to the server in memory: ${figure(ms('client') / ms('memory'))}. Medians of ${ROUNDS} alternating rounds, no distance.`,
      },
    }
  } finally {
    memory.close()
    await bucket.close()
  }
}
