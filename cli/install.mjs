import { spawn } from 'node:child_process'
import { existsSync, lstatSync, readFileSync, statSync } from 'node:fs'
import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { diskRemedy } from './local/disk-errors.mjs'
import { takePidLock } from './local/pid-lock.mjs'
import { printError } from './local/print-error.mjs'
import { SIGNALS } from './program.mjs'

const LOCK = '.installing'
const INSTALLED = 'node_modules/.package-lock.json'

/** Only with the packages of the tests. */
const TEST_PACKAGE = 'node_modules/.bin/node'

const NETWORK_ERROR =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|E\w*TIMEDOUT|ERR_SOCKET_TIMEOUT)\b/

const LINK = 'node_modules is a link to another folder. Install the packages there, or delete the link.'

const changed = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

const isCurrent = () => changed(INSTALLED) >= changed('package-lock.json') && existsSync(INSTALLED)

/** npm would delete the packages of another checkout. */
const isLink = () => lstatSync('node_modules', { throwIfNoEntry: false })?.isSymbolicLink() ?? false

const hasAll = () => existsSync(TEST_PACKAGE)

/** Whether the packages of the lockfile are installed: those that the service needs, or `all`. */
export const isInstalled = (packages) => isCurrent() && (packages === 'service' || hasAll())

/** Installs packages that are missing or older than the lockfile. Returns the exit code. */
export async function installMissing(packages) {
  const stopping = new AbortController()
  const stop = (signal) => stopping.abort(signal)
  for (const signal of SIGNALS) process.on(signal, stop)
  try {
    return await installOrWait(packages, stopping.signal)
  } catch (error) {
    return fail(error.message, 1)
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop)
  }
}

async function installOrWait(packages, signal) {
  for (let isWaiting = false; !isInstalled(packages); isWaiting = true) {
    if (signal.aborted) return stopped(signal)
    if (isLink()) return fail(LINK, 1)
    const { owner, release } = takePidLock(LOCK)
    if (release !== undefined) return install(packages, signal).finally(release)
    if (!isWaiting)
      printError(`Another install is running (pid ${owner}). Waiting for it … If none runs, delete ${LOCK}.`)
    await sleep(500)
  }
  return 0
}

async function install(packages, signal) {
  // Another process may have installed them while this one took the lock.
  if (isInstalled(packages)) return 0
  const omitsDev = packages === 'service' && !hasAll()
  const progress = showProgress(expectedPackages(omitsDev))
  signal.addEventListener('abort', () => progress.end('Stopping the installation …'))
  const { code, errors } = await runNpm(omitsDev, signal).finally(() => progress.end(''))
  if (signal.aborted) return stopped(signal)
  if (code !== 0) return fail(errors, code)
  printError('Installed the packages.')
  return 0
}

/** Returns the exit code of a shell for the signal that stopped the installation. */
function stopped(signal) {
  printError('The next start installs the packages.')
  return 128 + constants.signals[signal.reason]
}

/** Runs npm, and ends it when it is stopped. Returns its exit code and what it printed on standard error. */
async function runNpm(omitsDev, signal) {
  const npm = process.env.npm_execpath
  const [command, ...args] = npm ? [process.execPath, npm] : ['npm']
  // npm ci would remove the packages of a service that runs.
  args.push(...(isCurrent() ? ['install', '--no-save'] : ['ci']), omitsDev ? '--omit=dev' : '--include=dev')
  args.push(
    '--loglevel=error',
    '--no-progress',
    '--fetch-retry-mintimeout=1000',
    '--fetch-retry-maxtimeout=5000',
  )
  const child = spawn(command, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    shell: process.platform === 'win32' && !npm,
    signal,
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  const code = await new Promise((resolve, reject) => {
    child.on('error', (error) => error.name === 'AbortError' || reject(error))
    child.on('close', (exitCode) => resolve(exitCode ?? 1))
  })
  return { code, errors }
}

/** Explains an error in a sentence if its cause is known, else prints it. Returns the exit code. */
function fail(text, code) {
  const [network] = NETWORK_ERROR.exec(text) ?? []
  const disk = diskRemedy(text)
  if (network !== undefined) {
    printError(
      `The package registry cannot be reached (${network}). Check the network, and the proxy and registry that npm config list shows.`,
    )
  } else if (disk !== undefined) {
    // npm names its cache, for example, when that belongs to another user.
    const [, path = process.cwd()] = /^npm error path (.+)$/m.exec(text) ?? []
    printError(`The packages were not installed: ${path}. ${disk}`)
  } else {
    printError(`${text.trim()}\nThe packages were not installed. Fix this error and try again.`)
  }
  return code
}

/** Returns the folders of the packages of the lockfile that this machine needs. */
function expectedPackages(omitsDev) {
  const { packages = {} } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const isNeeded = ([path, { dev, os, cpu }]) =>
    path.includes('node_modules/') &&
    !(omitsDev && dev) &&
    (os === undefined || os.includes(process.platform)) &&
    (cpu === undefined || cpu.includes(process.arch))
  return Object.entries(packages)
    .filter(isNeeded)
    .map(([path]) => path)
}

/** Shows how many of the packages are there: in a line of a terminal, which changes, or every ten seconds in a log. */
function showProgress(folders) {
  const { stderr } = process
  const isTerminal = stderr.isTTY && process.env.TERM !== 'dumb'
  const draw = () => {
    const installed = folders.filter((folder) => existsSync(`${folder}/package.json`)).length
    const line = `Installing packages: ${Math.floor((100 * installed) / folders.length)} %`
    stderr.write(isTerminal ? `\r\x1b[K${line}` : `${line}\n`)
  }
  draw()
  const timer = setInterval(draw, isTerminal ? 200 : 10_000)
  let hasEnded = false
  const end = (line) => {
    if (hasEnded) return
    hasEnded = true
    clearInterval(timer)
    stderr.write(`${isTerminal ? '\r\x1b[K' : ''}${line && `${line}\n`}`)
  }
  return { end }
}
