// Runs before npm start and npm test, on any Node from 20 on. Runs npm ci when node_modules is missing or older than
// package-lock.json. The packages include the Node version that the commands run on.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const LOCK = '.installing'

const changed = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

const isInstalled = () =>
  changed('node_modules/.package-lock.json') >= changed('package-lock.json') &&
  changed('node_modules/.bin/node') > 0

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
  const { status } = spawnSync(command, [...args, 'ci', '--include=dev', '--loglevel=error'], {
    stdio: ['ignore', 2, 2],
  })
  return status ?? 1
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
