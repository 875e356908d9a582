import { join } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { exitOnWrongUsage } from '../../../cli/local/wrong-usage.ts'
import manifest from '../package.json' with { type: 'json' }
import { isDay } from './days.ts'
import { runLog } from './log-command.ts'
import { isBucket, openStore } from './open-store.ts'
import { writeReport } from './report/write-report.ts'
import { run } from './run.ts'
import { METRICS } from './streams.ts'
import { runSync, type SyncOptions } from './sync-command.ts'
import { counted, formatBytes } from './text.ts'
import { runVerify, type VerifyOptions } from './verify-command.ts'

const connection = (command: Command): Command =>
  command
    .addOption(
      new Option('--url <url>', 'root of the service, such as https://api.example.com').env('EXPORT_API_URL'),
    )
    .option('--allow-http', 'send the key by http:// to another machine, in a network that you trust')
    .option('--user-agent <name>', 'names the job to the operator of the service')

/** The command `export-api`. */
export const program = exitOnWrongUsage(new Command('export-api'), 'export-api --help')
  .description(
    'Keeps Delta tables equal to the Export API, in a folder or a bucket. The key is read from EXPORT_API_KEY.',
  )
  .version(manifest.version)
  .option('--quiet', 'print only warnings and errors')

const date = (text: string): string => {
  if (isDay(text)) return text
  throw new InvalidArgumentError('Use a date such as 2026-10-31.')
}

const positive = (text: string): number => {
  const number = Number(text)
  if (Number.isInteger(number) && number > 0) return number
  throw new InvalidArgumentError('Use a number from 1.')
}

type Global = { quiet?: boolean }

type ReportOptions = { out?: string; brand?: string[] }

connection(program.command('sync'))
  .description('Fetches what changed, and commits it to the tables. Run it as often as you like.')
  .requiredOption('--out <folder>', 'folder of the copy, or s3://bucket/prefix')
  .addOption(
    new Option('--from <date>', 'first day (default: as far as the plan reaches)')
      .env('EXPORT_API_START_DATE')
      .argParser(date),
  )
  .option('--to <date>', 'last day (default: all days)', date)
  .option('--brand <id...>', 'brands to copy, by id or name (default: all that the key reads)')
  .addOption(
    new Option('--endpoint <name...>', 'endpoints to copy (default: all)').choices(
      METRICS.map(({ endpoint }) => endpoint),
    ),
  )
  .option('--concurrency <number>', 'brands to read at once', positive, 4)
  .option('--keep <days>', 'days for which earlier versions of the tables stay', positive, 7)
  .option('--dry-run', 'print what would be fetched')
  .option('--report', 'then draw the charts of the copy in report.html in its folder')
  .action((options: SyncOptions) =>
    run({
      ...program.opts<Global>(),
      location: options.out,
      whenStopped: 'The next run resumes where this one ended.',
      work: (progress) => runSync(options, progress),
    }),
  )

connection(program.command('verify <copy>'))
  .description(
    'Compares a copy with the service, day by day. Prints what differs, and exits with 1 when something does.',
  )
  .option('--full', 'read all rows, also of files with the hash in the log')
  .option('--repair', 'fetch what differs again')
  .action((copy: string, options: VerifyOptions) =>
    run({
      ...program.opts<Global>(),
      location: copy,
      work: (progress) => runVerify(copy, options, progress),
    }),
  )

program
  .command('log <copy>')
  .description(
    'Lists the days that syncs replaced, with the sums of their rows before and after while the files of earlier versions are there, and why they changed. Sends no request to the service.',
  )
  .option('--days', 'a line for each day (default: for each brand)')
  .action((copy: string, options: { days?: true }) =>
    run({
      ...program.opts<Global>(),
      location: copy,
      work: (progress) => runLog(openStore(copy, progress), progress, options),
    }),
  )

program
  .command('report <copy>')
  .description('Writes the charts of a copy into one HTML file. Sends no request to the service.')
  .option('--out <file>', 'file to write (default: report.html in the folder, or here for a bucket)')
  .option('--brand <id...>', 'brands to show, by id or name (default: all with rows)')
  .action((copy: string, { out = join(isBucket(copy) ? '' : copy, 'report.html'), brand }: ReportOptions) =>
    run({
      ...program.opts<Global>(),
      location: copy,
      work: async (progress) => {
        progress.begin('Drawing the charts')
        const { brands, bytes } = await writeReport(openStore(copy, progress), out, brand)
        const message = `Wrote ${out}: ${counted(brands, 'brand')}, ${formatBytes(bytes)}.`
        progress.notice('report', message, { out, brands, bytes })
      },
    }),
  )
