// Runs ahead of every command, on whatever Node is there: installs what package-lock.json names when it is missing or
// older. Among it is the Node that the commands themselves run on.
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'

const changed = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

if (
  changed('node_modules/.package-lock.json') < changed('package-lock.json') ||
  !changed('node_modules/.bin/node')
) {
  console.error('Installing what the project needs …')
  const npm = process.env.npm_execpath
  const command = npm ? [process.execPath, npm] : ['npm']
  const { status } = spawnSync(command[0], [...command.slice(1), 'ci', '--loglevel=error'], {
    stdio: ['ignore', 2, 2],
  })
  process.exit(status ?? 1)
}
