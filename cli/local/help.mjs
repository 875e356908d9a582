// Plain JavaScript: cli/main.mjs uses it before anything is installed.
import { spawnSync } from 'node:child_process'
import { wrap } from './print-error.mjs'

const WIDTH = 80

/**
 * Returns how a script is called: `npm start --` or `npm run seed --`.
 *
 * @param {string} name
 */
export function usageOf(name) {
  return ['start', 'test'].includes(name) ? `npm ${name} --` : `npm run ${name} --`
}

/**
 * Prints the help of a command that runs programs, or whose packages are not installed. Returns the exit code.
 *
 * @param {string} name
 * @param {string} [description]
 */
export function printHelp(
  name,
  description = 'Run it once, or npm ci: the packages that describe it are not installed.',
) {
  console.log([`Usage: ${usageOf(name)} [options]\n`, ...wrap(description, WIDTH)].join('\n'))
  return 0
}

/**
 * Returns the first option that a program does not list in its help; undefined when it lists all.
 *
 * @param {string[]} program
 * @param {string[]} options
 */
export function unlistedOption([file = '', ...args], options) {
  const help = spawnSync(file, args, { encoding: 'utf8' }).stdout
  return options.find((option) => {
    const [, dashes, name = ''] = /^(-+)(?:no-)?([^.=]*)/.exec(option) ?? []
    const camelCase = name.replace(/-(.)/g, (_, letter) => letter.toUpperCase())
    return name !== '' && !new RegExp(`(^|\\s)${dashes}(no-)?${camelCase}\\b`, 'm').test(help)
  })
}
