import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const CACHE = fileURLToPath(new URL('../node_modules/.cache/tools', import.meta.url))

/** No dependency newer than this is installed, so that every installation is the same. */
const BEFORE = '2026-11-21'

/** Installs packages once in a folder of their own, and returns the folder. */
export async function installed(name: string, packages: Readonly<Record<string, string>>): Promise<string> {
  const folder = join(CACHE, name)
  const marker = join(folder, `.installed-${Object.values(packages).join('-')}`)
  if (existsSync(marker)) return folder
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: packages }))
  const options = ['--ignore-scripts', `--before=${BEFORE}`, '--no-audit', '--no-fund', '--loglevel=error']
  const child = spawn('npm', ['install', ...options], { cwd: folder, stdio: ['ignore', 2, 2] })
  const [status] = await once(child, 'close')
  if (status !== 0) throw new Error(`npm could not install ${name}: exit code ${status}`)
  writeFileSync(marker, '')
  return folder
}
