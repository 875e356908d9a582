// The help of commands that are described in commands.json, in the form of Commander's.
import { spawnSync } from 'node:child_process'
import { wrap } from './local/print-error.mjs'

const WIDTH = 80

/** Returns how a script is called: `npm start --` or `npm run seed --`. */
export function usageOf(name) {
  return ['start', 'test'].includes(name) ? `npm ${name} --` : `npm run ${name} --`
}

/** Prints the help of a command, and returns the exit code. */
export function printHelp(name, { description, flags, variables, programs }) {
  const sections = [`Usage: ${usageOf(name)} [options]`, wrap(description, WIDTH).join('\n')]
  if (flags !== undefined)
    sections.push(`Options:\n${table({ ...flags, '-h, --help': 'display help for command' })}`)
  if (variables !== undefined) sections.push(variablesSection(variables))
  if (flags === undefined && programs === undefined)
    sections.push('Run it once, or npm ci: the packages that list its options are not installed.')
  console.log(sections.join('\n\n'))
  return 0
}

/** Returns the part of a help that lists environment variables. */
export function variablesSection(variables) {
  return `Environment:\n${table(variables)}`
}

/** Returns a sentence about the first flag before `--`, which npm takes for its own; undefined when there is none. */
export function swallowedFlag(flags) {
  const flag = Object.keys(flags).find(
    (name) => process.env[`npm_config_${name.slice(2).replaceAll('-', '_')}`],
  )
  return flag && `npm takes ${flag} for its own. Write -- before it.`
}

/** Returns a sentence about the first argument that is not in a list of flags; undefined when all are. */
export function unknownArgument(flags, args) {
  const unknown = args.find((arg) => flags[arg] === undefined)
  if (unknown === undefined) return undefined
  return `Unknown ${unknown.startsWith('-') ? 'option' : 'argument'} '${unknown}'.`
}

/** Returns a sentence about the first option that a program does not list in its help; undefined when it lists all. */
export function unlistedOption([file, ...args], options) {
  const help = spawnSync(file, args, { encoding: 'utf8' }).stdout
  const unlisted = options.find((option) => {
    const [, dashes, name] = /^(-+)(?:no-)?([^.=]*)/.exec(option)
    const camelCase = name.replace(/-(.)/g, (_, letter) => letter.toUpperCase())
    return name !== '' && !new RegExp(`(^|\\s)${dashes}(no-)?${camelCase}\\b`, 'm').test(help)
  })
  return unlisted && `Unknown option '${unlisted}'.`
}

/** Returns names and their descriptions, in lines of at most 80 columns. */
function table(rows) {
  const indent = Math.max(...Object.keys(rows).map(({ length }) => length)) + 4
  return Object.entries(rows)
    .map(
      ([name, text]) =>
        `  ${name}`.padEnd(indent) + wrap(text, WIDTH - indent).join(`\n${' '.repeat(indent)}`),
    )
    .join('\n')
}
