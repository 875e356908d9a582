import { Command, Help } from 'commander'
import { usageOf } from './help.mjs'
import { printError } from './print-error.mjs'
import { EXIT_CODE, exitOnWrongUsage } from './wrong-usage.ts'

/** What an npm script does, and the environment variables that it reads. */
type Described = { readonly description: string; readonly variables?: Readonly<Record<string, string>> }

/** Of many commands. */
export const DATABASE_URL = { DATABASE_URL: 'connection string of the database; npm start prints one' }

/** Returns the Commander command of an npm script. */
export function createCommand(name: string, { description, variables = {} }: Described): Command {
  const command = new Command(usageOf(name)).description(description)
  const entries = Object.entries(variables)
  if (entries.length > 0) {
    const help = new Help()
    const width = Math.max(...entries.map(([variable]) => variable.length))
    const lines = entries.map(([variable, text]) => help.formatItem(variable, width, text, help))
    command.addHelpText('after', `\nEnvironment:\n${lines.join('\n')}`)
  }
  return exitOnWrongUsage(command, `${usageOf(name)} --help`)
}

/** Ends the process when npm has taken an option of a command for its own: `npm start --fresh`. */
export function requireOwnOptions(command: Command): void {
  const taken = command.options.find(
    ({ long }) => process.env[`npm_config_${long?.slice(2).replaceAll('-', '_')}`],
  )
  if (taken === undefined) return
  printError(`npm takes ${taken.long} for its own. Write -- before it. See ${command.name()} --help.`)
  process.exit(EXIT_CODE)
}
