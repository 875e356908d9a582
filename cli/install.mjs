// Runs ahead of every command, on whatever Node is there: installs what package-lock.json names when it is missing or
// older. Among it is the Node that the commands themselves run on.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const LOCK = '.installing'

const changed = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

const isInstalled = () =>
  changed('node_modules/.package-lock.json') >= changed('package-lock.json') &&
  changed('node_modules/.bin/node') > 0

/** Whether this process is the one to install; another one that began within ten minutes is waited for. */
function isFirst() {
  try {
    mkdirSync(LOCK)
    return true
  } catch {
    return Date.now() - changed(LOCK) > 600_000
  }
}

function install() {
  console.error('Installing what the project needs …')
  const npm = process.env.npm_execpath
  const [command, ...args] = npm ? [process.execPath, npm] : ['npm']
  const { status } = spawnSync(command, [...args, 'ci', '--include=dev', '--loglevel=error'], {
    stdio: ['ignore', 2, 2],
  })
  return status ?? 1
}

while (!isInstalled()) {
  if (!isFirst()) {
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
