import { Command } from 'commander'
import commands from './commands.json' with { type: 'json' }
import { usageOf, variablesSection } from './help.mjs'
import { exitOnWrongUsage } from './local/wrong-usage.ts'

type Described = { readonly description: string; readonly variables?: Readonly<Record<string, string>> }

/** Returns the Commander command of an npm script, with the description of commands.json. */
export function createCommand(name: keyof typeof commands): Command {
  const { description, variables }: Described = commands[name]
  const command = new Command(usageOf(name)).description(description)
  if (variables !== undefined) command.addHelpText('after', `\n${variablesSection(variables)}`)
  return exitOnWrongUsage(command, `${usageOf(name)} --help`)
}
