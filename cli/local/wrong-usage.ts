import type { Command } from 'commander'
import { printError } from './print-error.mjs'

/** As in sysexits.h. */
export const EXIT_CODE = 64

/** Makes wrong usage of a command, and of subcommands that are added later, one line and exit code 64. */
export const exitOnWrongUsage = (command: Command, help: string): Command =>
  command
    .configureOutput({ outputError: (text) => printError(usageSentence(text, help)) })
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : EXIT_CODE))

/** Turns Commander's lines about a wrong option into one line that ends with where the help is. */
function usageSentence(text: string, help: string): string {
  const [message = '', hint] = text
    .replace(/^error: /, '')
    .trim()
    .split('\n')
  return [message, hint?.replace(/^\((.+)\)$/, '$1'), `See ${help}.`]
    .filter((sentence) => sentence !== undefined)
    .map((sentence) => (/[.?]$/.test(sentence) ? sentence : `${sentence}.`))
    .map((sentence) => sentence.charAt(0).toUpperCase() + sentence.slice(1))
    .join(' ')
}
