#!/usr/bin/env node
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { Command, Option } from 'commander'
import { ExportApiError } from '../src/index.ts'
import { createApi } from './api.ts'
import { dryRun } from './dry-run.ts'
import { createProgress, type Progress } from './progress.ts'
import { writeReport } from './report/write-report.ts'
import { sync } from './sync.ts'
import { UsageError } from './usage-error.ts'
import { verify } from './verify.ts'

// By default, V8 lets the heap grow to ten times what is in use before it collects rows that are no longer needed.
setFlagsFromString('--optimize-for-size')

const url = () =>
  new Option('--url <url>', 'root of the service, such as https://api.example.com')
    .env('EXPORT_API_URL')
    .makeOptionMandatory()

const program = new Command('export-api').description(
  'Keeps a folder of Parquet files equal to the Export API. The key is read from EXPORT_API_KEY.',
)

type SyncOptions = { url: string; out: string; from?: string; brand?: string[]; dryRun?: true }

program
  .command('sync')
  .description('Fetches what changed, and replaces the files of its months. Run it as often as you like.')
  .addOption(url())
  .requiredOption('--out <folder>', 'folder of the copy')
  .addOption(
    new Option('--from <date>', 'first day (default: as far as the plan reaches)').env(
      'EXPORT_API_START_DATE',
    ),
  )
  .option('--brand <id...>', 'brands to copy (default: all that the key reads)')
  .option('--dry-run', 'print what would be fetched')
  .action(({ url, out, from, brand, dryRun: isDry }: SyncOptions) =>
    run(async (progress) => {
      const options = { api: createApi({ url, key: key() }, progress), folder: out, fromDate: from, progress }
      if (isDry) {
        const rows = await dryRun(options, brand)
        return progress.notice('dry_run', `Would fetch ${rows} rows. Nothing was written.`, { rows })
      }
      await sync(options, brand)
      const { requests, rows } = progress.counts
      progress.notice('done', `Up to date: ${rows} rows, ${requests} requests.`, { requests, rows })
    }),
  )

program
  .command('verify <folder>')
  .description(
    'Compares a copy with the service, day by day. Prints what differs, and exits with 1 when something does.',
  )
  .addOption(url())
  .action((folder: string, { url }: { url: string }) =>
    run(async (progress) => {
      const api = createApi({ url, key: key() }, progress)
      let differences = 0
      for await (const { message, ...where } of verify({ api, folder, progress })) {
        differences += 1
        progress.notice('differs', `${where.path}: ${message}`, where)
      }
      const { rows } = progress.counts
      const message =
        differences === 0
          ? `Equal: ${rows} rows.`
          : `${differences} differences. Run sync and verify again. Delete files that still differ, then run sync. Keep those of brands that the key no longer reads.`
      progress.notice('verified', message, { differences, rows })
      if (differences > 0) process.exitCode = 1
    }),
  )

program
  .command('report <folder>')
  .description('Writes the charts of a copy into one HTML file. Reads the folder only.')
  .option('--out <file>', 'file to write (default: report.html in the folder)')
  .action((folder: string, { out = join(folder, 'report.html') }: { out?: string }) =>
    run(async (progress) => {
      const { brands, bytes } = await writeReport(folder, out)
      progress.notice('report', `Wrote ${out}: ${brands} brands, ${bytes} bytes.`, { out, brands, bytes })
    }),
  )

await program.parseAsync()

function key(): string {
  const value = process.env.EXPORT_API_KEY
  if (value) return value
  throw new UsageError('The key is missing. Set EXPORT_API_KEY.')
}

async function run(work: (progress: Progress) => Promise<void>): Promise<void> {
  const progress = createProgress()
  try {
    await work(progress)
  } catch (error) {
    process.exitCode = 1
    console.error(describe(error))
  } finally {
    progress.stop()
  }
}

/** Returns the sentence of an expected error, and all that is known about another one. */
function describe(error: unknown): unknown {
  if (error instanceof ExportApiError && error.requestId !== undefined) {
    return `${error.message} (request ${error.requestId})`
  }
  const isExpected = error instanceof UsageError || error instanceof ExportApiError || isSystemError(error)
  return isExpected ? error.message : error
}

/** Whether it is an error of the operating system, such as ENOSPC. */
function isSystemError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error
}
