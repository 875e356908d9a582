import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

const INSTALL = resolve('cli/install.mjs')

/** Logs its arguments, and installs what install.mjs looks for. */
const NPM = `
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
appendFileSync('npm.log', process.argv.slice(2).join(' ') + '\\n')
if (process.env.FAILS) process.exit(7)
await new Promise((resolve) => setTimeout(resolve, 300))
mkdirSync('node_modules/.bin', { recursive: true })
if (process.argv.includes('--include=dev')) writeFileSync('node_modules/.bin/node', '')
writeFileSync('node_modules/.package-lock.json', '{}')`

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'install-'))
  await writeFile(join(folder, 'package-lock.json'), '{}')
  await writeFile(join(folder, 'npm.mjs'), NPM)
})

afterEach(() => rm(folder, { recursive: true }))

function install(
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<number> {
  const env = { ...environment, npm_execpath: join(folder, 'npm.mjs') }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [INSTALL, ...args], { cwd: folder, env }, () =>
      resolve(child.exitCode ?? -1),
    )
  })
}

const installs = async () => (await readFile(join(folder, 'npm.log'), 'utf8')).trimEnd().split('\n')

test('two commands at once install once, and a third finds everything installed', async () => {
  expect(await Promise.all([install(), install()])).toEqual([0, 0])
  expect(await install()).toBe(0)
  expect(await installs()).toEqual(['ci --include=dev --loglevel=error'])
  expect(await readdir(folder)).not.toContain('.installing')
})

test('npm start installs less than the tests, which later add what is missing and remove nothing', async () => {
  const start = ['--omit=dev']
  expect([await install(start), await install(start), await install(), await install(start)]).toEqual([
    0, 0, 0, 0,
  ])
  await utimes(join(folder, 'node_modules/.package-lock.json'), 0, 0)
  await install(start)
  expect(await installs()).toEqual([
    'ci --omit=dev --loglevel=error',
    'install --no-save --include=dev --loglevel=error',
    'ci --include=dev --loglevel=error',
  ])
})

test('a failed installation passes on its exit code and releases the lock', async () => {
  await mkdir(join(folder, 'node_modules'))
  expect(await install([], { FAILS: 'yes' })).toBe(7)
  expect(await readdir(folder)).not.toContain('.installing')
})
