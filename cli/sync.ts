// npm run sync: the command of the package export-api-client. Without settings, it copies from the npm start that runs.
import { UsageError } from '../connectors/typescript/cli/errors.ts'
import { printError } from '../emulator/print-error.mjs'
import { findRunning } from '../emulator/running.ts'

const args = process.argv.slice(2)
const has = (...names: readonly string[]): boolean =>
  args.some((arg) => names.some((name) => arg === name || arg.startsWith(`${name}=`)))

try {
  if (!has('--help', '-h')) addDefaults()
  process.argv.splice(2, args.length, 'sync', ...args)
  await import('../connectors/typescript/cli/export-api.ts')
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  printError(error.message)
  process.exitCode = error.exitCode
}

function addDefaults(): void {
  const isOwn = !process.env.EXPORT_API_URL && !has('--url')
  if (isOwn) useRunningService()
  if (has('--out')) return
  args.push('--out', 'copy')
  if (isOwn) args.push('--report')
}

/** Takes the address and, without one, the key of the service that runs. Throws `UsageError` when there is none. */
function useRunningService(): void {
  const service = findRunning(process.env.PORT)
  if (service === undefined)
    throw new UsageError(
      'No service runs here. Run npm start in another terminal, or set EXPORT_API_URL and EXPORT_API_KEY.',
    )
  const key = process.env.EXPORT_API_KEY || service.key
  if (key === undefined)
    throw new UsageError(
      `The service at ${service.url} has the keys of your database, so none is known here. Set EXPORT_API_KEY.`,
    )
  process.env.EXPORT_API_URL = service.url
  process.env.EXPORT_API_KEY = key
}
