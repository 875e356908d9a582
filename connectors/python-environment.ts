import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { UsageError } from '../drizzle/db/connect.ts'

const CACHE = fileURLToPath(new URL('../.cache/python/', import.meta.url))
const REQUIREMENTS = fileURLToPath(new URL('./requirements/', import.meta.url))
/** The pins of each environment. */
const PINS = fileURLToPath(new URL('./pyproject.toml', import.meta.url))
const TAP = fileURLToPath(new URL('./singer/tap-export-api', import.meta.url))

const run = async (program: string, ...args: string[]): Promise<void> => {
  await promisify(execFile)(program, args, { maxBuffer: Number.POSITIVE_INFINITY })
}

/** Takes a lock. One that is older than ten minutes is left over from a process that was killed. */
const takeLock = (lock: string): Promise<boolean> =>
  mkdir(lock).then(
    () => true,
    async () => Date.now() - (await stat(lock).catch(() => ({ mtimeMs: Date.now() }))).mtimeMs > 600_000,
  )

/** Runs `make` unless another process has made it with the same content. Processes wait for each other. */
async function once(name: string, content: string, make: () => Promise<void>): Promise<void> {
  const marker = `${CACHE}${name}.made`
  const lock = `${CACHE}${name}.lock`
  const made = createHash('sha256').update(content).digest('hex')
  const isMade = async () => (await readFile(marker, 'utf8').catch(() => '')) === made
  await mkdir(CACHE, { recursive: true })
  while (!(await isMade())) {
    if (!(await takeLock(lock))) {
      await sleep(200)
      continue
    }
    try {
      if (!(await isMade())) {
        await make()
        await writeFile(marker, made)
      }
    } finally {
      await rm(lock, { recursive: true, force: true })
    }
  }
}

const isPython = `import ensurepip, sys; sys.exit(sys.version_info < (3, 11))`

/**
 * Makes the Python environment of an engine, once. Checks each package by its hash, and fails when `requirements/` lacks
 * what `pyproject.toml` pins. Returns the folder of its programs. Throws `UsageError` when the machine has no Python 3.11 or
 * later.
 */
export async function environment(name: string): Promise<string> {
  const requirements = (of: string): string => `${REQUIREMENTS}${of}.txt`
  const folder = `${CACHE}${name}`
  const uv = `${CACHE}uv/bin/uv`
  await once('uv', await readFile(requirements('uv'), 'utf8'), async () => {
    await run('python3', '-c', isPython).catch(() => {
      throw new UsageError('Install Python 3.11 or later with venv. On Debian: apt-get install python3-venv')
    })
    await run('python3', '-m', 'venv', '--clear', `${CACHE}uv`)
    await run(`${CACHE}uv/bin/pip`, 'install', '--quiet', '--require-hashes', '-r', requirements('uv'))
  })
  await once(name, await readFile(requirements(name), 'utf8'), async () => {
    await run(uv, 'venv', '--quiet', '--clear', '--relocatable', '--python', 'python3', folder)
    const install = (...args: string[]) => run(uv, 'pip', 'install', '--quiet', '--python', folder, ...args)
    const files = ['--requirements', requirements(name), '--group', `${PINS}:${name}`]
    await install('--require-hashes', '--no-build', ...files)
    if (name === 'singer') await install('--no-deps', '--no-build-isolation', '--editable', TAP)
  })
  return `${folder}/bin`
}
