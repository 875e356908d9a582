// Runs before npm start and npm test, on any Node from 20 on. Installs packages that are missing or older than
// package-lock.json: with --omit=dev those that the service needs, without it all. These include the Node version that
// tests and checks run on.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const LOCK = '.installing'
const INSTALLED = 'node_modules/.package-lock.json'

const changed = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

const isCurrent = () => changed(INSTALLED) >= changed('package-lock.json') && existsSync(INSTALLED)

const hasAll = () => existsSync('node_modules/.bin/node')

const isInstalled = () => isCurrent() && (process.argv.includes('--omit=dev') || hasAll())

/** Takes the lock. A lock older than ten minutes is left over from a process that was killed. */
function takeLock() {
  try {
    mkdirSync(LOCK)
    return true
  } catch {
    return Date.now() - changed(LOCK) > 600_000
  }
}

function install() {
  console.error('Installing packages …')
  const npm = process.env.npm_execpath
  const [command, ...args] = npm ? [process.execPath, npm] : ['npm']
  // npm ci would remove the packages of a service that runs.
  args.push(...(isCurrent() ? ['install', '--no-save'] : ['ci']))
  args.push(
    process.argv.includes('--omit=dev') && !hasAll() ? '--omit=dev' : '--include=dev',
    '--loglevel=error',
  )
  return spawnSync(command, args, { stdio: ['ignore', 2, 2] }).status ?? 1
}

while (!isInstalled()) {
  if (!takeLock()) {
    await sleep(500)
    continue
  }
  let status
  try {
    status = isInstalled() ? 0 : install()
  } finally {
    rmSync(LOCK, { recursive: true, force: true })
  }
  if (status !== 0) process.exit(status)
}
