import { InvalidArgumentError } from 'commander'
import { UsageError } from '../drizzle/db/connect.ts'
import { readServiceOrigin } from './dev-vars.ts'
import { createCommand } from './local/command.ts'
import { run } from './run.ts'
import { runSmoke, waitFor } from './smoke/smoke.ts'

const seconds = (text: string): number => {
  if (/^\d{1,3}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Use a whole number of seconds from 0 to 999.')
}

const options = createCommand('smoke', {
  description:
    'Reads a page of every endpoint of a running service and checks it against its OpenAPI document.',
  variables: { 'API_URL, EXPORT_API_KEY': 'the service and a key; also read from .dev.vars' },
})
  .option('--url <url>', 'URL of the service (default: API_URL)')
  .option('--key <key>', 'export key (default: EXPORT_API_KEY, which stays out of the shell history)')
  .option('--without-key', 'run only the checks that need no key')
  .option('--wait <seconds>', 'wait at most this long for the service to start', seconds, 0)
  .parse()
  .opts<{ url?: string; key?: string; withoutKey?: boolean; wait: number }>()

await run(async () => {
  const url = readServiceOrigin(options.url, '--url')
  const key = options.withoutKey ? undefined : (options.key ?? process.env.EXPORT_API_KEY)?.trim()
  if (!key && !options.withoutKey) {
    throw new UsageError(
      'The key is missing. Set EXPORT_API_KEY, or pass --without-key for the checks that need none.',
    )
  }
  // An error of fetch about a header shows its value.
  if (key && !/^[!-~]+$/.test(key)) throw new UsageError('The key has characters that no key has.')
  const service = { url, key }
  await waitFor(service, options.wait)
  await runSmoke(service)
})
