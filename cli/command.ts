import { Command } from 'commander'
import { printError } from '../reference/print-error.mjs'
import { usageSentence } from '../reference/usage-sentence.ts'
import commands from './commands.json' with { type: 'json' }
import { usageOf, variablesSection } from './help.mjs'

type Described = { readonly description: string; readonly variables?: Readonly<Record<string, string>> }

/** Exit code of a wrong option, as in sysexits.h. */
const USAGE_EXIT_CODE = 64

/** Returns the Commander command of an npm script, with the description of commands.json. */
export function createCommand(name: keyof typeof commands): Command {
  const { description, variables }: Described = commands[name]
  const command = new Command(usageOf(name)).description(description)
  if (variables !== undefined) command.addHelpText('after', `\n${variablesSection(variables)}`)
  return command
    .configureOutput({
      outputError: (text) => printError(usageSentence(text, `${usageOf(name)} --help`)),
    })
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : USAGE_EXIT_CODE))
}
