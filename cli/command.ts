import { Command } from 'commander'
import { printError } from '../emulator/print-error.mjs'
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
  return (
    command
      // A key that is passed by mistake, for example as --key, is not printed.
      .configureOutput({
        outputError: (text) => printError(toSentence(text, name).replace(/svc_live_\w+/g, 'svc_live_…')),
      })
      .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : USAGE_EXIT_CODE))
  )
}

/** Turns Commander's lines about a wrong option into one line. */
function toSentence(text: string, name: string): string {
  const [message = '', hint] = text
    .replace(/^error: /, '')
    .trim()
    .split('\n')
  const sentences = [message, hint?.replace(/^\((.+)\)$/, '$1'), `See ${usageOf(name)} --help.`]
  return sentences
    .filter((sentence) => sentence !== undefined)
    .map((sentence) => (/[.?]$/.test(sentence) ? sentence : `${sentence}.`))
    .map((sentence) => sentence.charAt(0).toUpperCase() + sentence.slice(1))
    .join(' ')
}
