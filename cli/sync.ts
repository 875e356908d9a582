// npm run sync: the command of the package export-api-client. Without settings, it copies from the npm start that runs.
// npm run sync -- verify FOLDER and npm run sync -- report FOLDER run its other commands.
import { UsageError } from '../connectors/typescript/cli/errors.ts'
import { program } from '../connectors/typescript/cli/program.ts'
import { awaitRunning } from '../emulator/running-service.ts'
import { printError } from './local/print-error.mjs'
import { reportError } from './local/report-error.ts'

const args = process.argv.slice(2)
const has = (name: string): boolean => args.some((arg) => arg === name || arg.startsWith(`${name}=`))
const url = process.env.EXPORT_API_URL
/** Another command of the package. */
const isOther = program.commands.some((command) => command.name() === args[0])
const usesRunning = !['report', 'log'].includes(args[0] ?? '') && !url && !has('--url')

if (usesRunning)
  program.hook('preAction', async (_, sync) => void sync.setOptionValue('url', await useRunningService()))
try {
  await program.parseAsync(isOther ? args : ['sync', ...args, ...defaults()], { from: 'user' })
} catch (error) {
  process.exitCode = error instanceof UsageError ? error.exitCode : 2
  if (error instanceof UsageError) printError(error.message)
  else reportError(error)
}

/** Returns where the copy is, unless an option says it: each service has a folder of its own. */
function defaults(): string[] {
  if (has('--out')) return []
  if (usesRunning) return ['--out', 'copy', '--report']
  return url && URL.canParse(url) ? ['--out', `copy-${new URL(url).host.replaceAll(':', '-')}`] : []
}

/**
 * Returns the address of the service that runs, once it has all days of the demo, and takes its key unless one is set.
 * Throws `UsageError` when there is none.
 */
async function useRunningService(): Promise<string> {
  const service = await awaitRunning()
  if (service === undefined)
    throw new UsageError(
      'No service runs here. Run npm start in another terminal, or set EXPORT_API_URL and EXPORT_API_KEY.',
    )
  if (process.env.EXPORT_API_KEY) return service.url
  if (service.demo === undefined)
    throw new UsageError(
      `The service at ${service.url} has the keys of your database, so none is known here. Set EXPORT_API_KEY.`,
    )
  if (!program.opts<{ quiet?: boolean }>().quiet) console.error("Using the demo's key.")
  process.env.EXPORT_API_KEY = service.demo.key
  return service.url
}
