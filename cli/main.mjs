// Every npm script runs through this file, on the Node and npm of the machine and before anything is installed. It prints
// help, checks Node's version, installs the packages that are missing, and runs what commands.json says.
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { installMissing, isInstalled } from './install.mjs'
import { printHelp, unlistedOption, usageOf } from './local/help.mjs'
import { printError } from './local/print-error.mjs'
import { runProgram } from './program.mjs'

const MINIMUM = [20, 12]
const NODE = `node_modules/node/bin/node${process.platform === 'win32' ? '.exe' : ''}`

const [name, ...args] = process.argv.slice(2)
const { [name]: command } = JSON.parse(readFileSync(new URL('./commands.json', import.meta.url), 'utf8'))
const { module, programs, packages = programs ? 'all' : 'service' } = command

process.exitCode = await main()

async function main() {
  // A module describes its options itself, as soon as its packages are installed.
  if (isHelp() && (programs || !isInstalled(packages))) return printHelp(name, command.description)
  if (!isNewEnough()) {
    printError(
      `Export API needs Node ${MINIMUM.join('.')} or later, and this is Node ${process.versions.node}. Install a newer Node and try again.`,
    )
    return 1
  }
  const failed = await installMissing(packages)
  if (failed !== 0) return failed
  if (programs) return runPrograms()
  const node = neededNode()
  if (realpathSync(node) !== realpathSync(process.execPath)) {
    return runProgram([node, 'cli/main.mjs', name, ...args])
  }
  await runModule()
  return process.exitCode
}

/** Runs programs one after the other, until one fails. The last one receives the arguments, if it lists its options. */
async function runPrograms() {
  const { help } = command
  const unknown = help ? args.some(isOption) && unlistedOption(help, args.filter(isOption)) : args[0]
  if (unknown) {
    printError(
      `Unknown ${isOption(unknown) ? 'option' : 'argument'} '${unknown}'. See ${usageOf(name)} --help.`,
    )
    return 64
  }
  for (const [index, program] of programs.entries()) {
    const code = await runProgram(index < programs.length - 1 ? program : [...program, ...args])
    if (code !== 0) return code
  }
  return 0
}

/** Runs a module of TypeScript in this process. */
async function runModule() {
  const url = new URL(`../${module}`, import.meta.url)
  process.argv.splice(1, 2, fileURLToPath(url))
  if (!process.features.typescript) await import('tsx')
  await import(url.href)
}

function isOption(arg) {
  return arg.startsWith('-')
}

/**
 * Tools among the packages need the Node among the packages, which npm puts first on the PATH. A command that handles
 * secrets needs the Node that runs npm: the lockfile has no checksum of the other one.
 */
function neededNode() {
  if (command.node === 'npm') return process.env.npm_node_execpath ?? process.execPath
  return packages === 'all' && existsSync(NODE) ? NODE : process.execPath
}

function isHelp() {
  return args.includes('--help') || args.includes('-h')
}

function isNewEnough() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  return major > MINIMUM[0] || (major === MINIMUM[0] && minor >= MINIMUM[1])
}
