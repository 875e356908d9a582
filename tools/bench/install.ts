import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/bench', import.meta.url))

/** Nothing newer than this is installed, so that a product's own dependencies are the same ones each time. */
const BEFORE = '2026-11-21'

/** Installs a product of that very version in a folder of its own, once; gives the folder. */
export async function installed(name: string, packages: Readonly<Record<string, string>>): Promise<string> {
  const folder = join(CACHE, name)
  const mark = join(folder, `.installed-${Object.values(packages).join('-')}`)
  if (existsSync(mark)) return folder
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: packages }))
  const npm = process.env.npm_execpath
  const [command, ...first] = npm ? [process.execPath, npm] : ['npm']
  const args = [
    'install',
    '--ignore-scripts',
    `--before=${BEFORE}`,
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]
  const child = spawn(command, [...first, ...args], { cwd: folder, stdio: ['ignore', 2, 2] })
  const [status] = await once(child, 'close')
  if (status !== 0) throw new Error(`${name} cannot be installed: npm ended with ${status}`)
  writeFileSync(mark, '')
  return folder
}
