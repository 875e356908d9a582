import { Command, InvalidArgumentError } from 'commander'
import { UsageError } from '../drizzle/db/connect.ts'
import { loadDevVars } from './dev-vars.ts'
import { run } from './run.ts'
import { originOf, reportSmoke } from './smoke/report.ts'
import { waitFor } from './smoke/smoke.ts'

const seconds = (text: string): number => {
  if (/^\d{1,3}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number of seconds, 0 to 999.')
}

const options = new Command('smoke')
  .description(
    'Pulls a page of everything from a running service, and checks it against its own OpenAPI document.',
  )
  .option('--url <address>', 'where the service is (API_URL)')
  .option('--key <key>', 'an export key (EXPORT_API_KEY, which no shell remembers)')
  .option('--without-key', 'try only what needs no key')
  .option('--wait <seconds>', 'wait that long for the service to be there', seconds, 0)
  .parse()
  .opts<{ url?: string; key?: string; withoutKey?: boolean; wait: number }>()

await run(async () => {
  loadDevVars()
  const url = options.url ?? process.env.API_URL
  const key = options.withoutKey ? undefined : (options.key ?? process.env.EXPORT_API_KEY)
  if (!url) throw new UsageError('--url is missing, and API_URL is not set: where is the service?')
  if (!key && !options.withoutKey) {
    throw new UsageError(
      '--key is missing, and EXPORT_API_KEY is not set; --without-key tries what needs none.',
    )
  }
  const service = { url: originOf(url), key }
  await waitFor(service, options.wait)
  await reportSmoke(service)
})
