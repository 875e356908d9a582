#!/usr/bin/env node
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { Command, InvalidArgumentError, Option } from 'commander'
import manifest from '../package.json' with { type: 'json' }
import { ExportApiError } from '../src/index.ts'
import { createApi, nameOptions } from './api.ts'
import { addDays } from './days.ts'
import { dryRun } from './dry-run.ts'
import { CommandError, DiffersError, isSystemError, UsageError } from './errors.ts'
import { isBucket, openStore } from './open-store.ts'
import { createProgress, type Progress } from './progress.ts'
import { repair } from './repair.ts'
import { writeReport } from './report/write-report.ts'
import { METRICS } from './streams.ts'
import { sync } from './sync.ts'
import { verify } from './verify.ts'

// By default, V8 lets the heap grow to ten times what is in use before it collects rows that are no longer needed.
setFlagsFromString('--optimize-for-size')

const connection = (command: Command): Command =>
  command
    .addOption(
      new Option('--url <url>', 'root of the service, such as https://api.example.com')
        .env('EXPORT_API_URL')
        .makeOptionMandatory(),
    )
    .option('--user-agent <name>', 'identifies the job, which gets a rate limit of its own')

const program = new Command('export-api')
  .description(
    'Keeps Parquet files equal to the Export API, in a folder or a bucket. The key is read from EXPORT_API_KEY.',
  )
  .version(manifest.version)
  .option('--quiet', 'print only warnings and errors')
  // Subcommands inherit it.
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 64))

const date = (text: string): string => {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
  if (isDay && addDays(text, 0) === text) return text
  throw new InvalidArgumentError('Use a date such as 2026-10-31.')
}

const positive = (text: string): number => {
  const number = Number(text)
  if (Number.isInteger(number) && number > 0) return number
  throw new InvalidArgumentError('Use a number from 1.')
}

type Connection = { url: string; userAgent?: string }

type SyncOptions = Connection & {
  out: string
  from?: string
  to?: string
  brand?: string[]
  endpoint?: string[]
  concurrency: number
  dryRun?: true
}

connection(program.command('sync'))
  .description('Fetches what changed, and replaces the files of its months. Run it as often as you like.')
  .requiredOption('--out <folder>', 'folder of the copy, or s3://bucket/prefix')
  .addOption(
    new Option('--from <date>', 'first day (default: as far as the plan reaches)')
      .env('EXPORT_API_START_DATE')
      .argParser(date),
  )
  .option('--to <date>', 'last day (default: all days)', date)
  .option('--brand <id...>', 'brands to copy (default: all that the key reads)')
  .addOption(
    new Option('--endpoint <name...>', 'endpoints to copy (default: all)').choices(
      METRICS.map(({ endpoint }) => endpoint),
    ),
  )
  .option('--concurrency <number>', 'brands to read at once', positive, 4)
  .option('--dry-run', 'print what would be fetched')
  .action((options: SyncOptions) =>
    run(async (progress) => {
      const { out, from, to, brand, endpoint, concurrency } = options
      const job = {
        api: createApi({ ...options, key: key() }, progress),
        store: openStore(out, progress),
        fromDate: from,
        toDate: to,
        endpoints: endpoint,
        concurrency,
        progress,
      }
      if (options.dryRun) {
        const rows = await dryRun(job, brand)
        return progress.notice('dry_run', `Would fetch ${rows} rows. Nothing was written.`, { rows })
      }
      await sync(job, brand)
      const { requests, rows } = progress.counts
      progress.notice('done', `Up to date: ${rows} rows, ${requests} requests.`, { requests, rows })
    }),
  )

connection(program.command('verify <copy>'))
  .description(
    'Compares a copy with the service, day by day. Prints what differs, and exits with 1 when something does.',
  )
  .option('--full', 'read all rows, also of files whose hash is the one that sync stored')
  .option('--repair', 'fetch what differs again')
  .action((copy: string, options: Connection & { full?: boolean; repair?: boolean }) =>
    run(async (progress) => {
      const api = createApi({ ...options, key: key() }, progress)
      const verification = { api, store: openStore(copy, progress), progress, full: options.full ?? false }
      if (options.repair) await repair(verification)
      let differences = 0
      for await (const { path, date, message } of verify(verification)) {
        differences += 1
        progress.notice('differs', `${path}: ${message}`, { path, date }, 'error')
      }
      const { rows } = progress.counts
      if (differences === 0)
        return progress.notice('verified', `Equal: ${rows} rows read.`, { differences, rows })
      const advice = options.repair
        ? 'Days that the plan does not reach, and brands that the key no longer reads, cannot be fetched.'
        : 'Run sync, and verify with --repair what still differs.'
      throw new DiffersError(`${differences} differences. ${advice}`)
    }),
  )

program
  .command('report <copy>')
  .description('Writes the charts of a copy into one HTML file. Sends no request to the service.')
  .option('--out <file>', 'file to write (default: report.html in the folder, or here for a bucket)')
  .action((copy: string, { out = join(isBucket(copy) ? '' : copy, 'report.html') }: { out?: string }) =>
    run(async (progress) => {
      const { brands, bytes } = await writeReport(openStore(copy, progress), out)
      progress.notice('report', `Wrote ${out}: ${brands} brands, ${bytes} bytes.`, { out, brands, bytes })
    }),
  )

await program.parseAsync()

function key(): string {
  const value = process.env.EXPORT_API_KEY
  if (value) return value
  throw new UsageError('The key is missing. Set EXPORT_API_KEY.')
}

/** Runs a command. The exit code is 0, 1 when the copy differs, 2 when the work could not be done, 64 for wrong usage. */
async function run(work: (progress: Progress) => Promise<void>): Promise<void> {
  const progress = createProgress(program.opts<{ quiet?: boolean }>())
  try {
    await work(progress)
  } catch (error) {
    process.exitCode = error instanceof CommandError ? error.exitCode : 2
    const message = describe(error)
    progress.fail(message ?? String(error), process.exitCode)
    console.error(message ?? error)
  } finally {
    progress.stop()
  }
}

/** Returns the sentence of an expected error; undefined for another one, of which all is printed. */
function describe(error: unknown): string | undefined {
  if (error instanceof ExportApiError) {
    const request = error.requestId === undefined ? '' : ` (request ${error.requestId})`
    return nameOptions(error.message) + request
  }
  return error instanceof CommandError || isSystemError(error) ? error.message : undefined
}
