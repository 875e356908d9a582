import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { chown, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { withClient } from '../database.ts'

const run = promisify(execFile)
const INSTALLED = '/usr/lib/postgresql'

/** Processes that are ending may still write into a folder that is being removed. */
const REMOVED = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }

/** A PostgreSQL of the test's own, which can be killed and started again. */
export type Restartable = {
  readonly url: string
  /** SIGKILL for all its processes; returns when they are gone. */
  readonly kill: () => Promise<void>
  /** Starts it again on what it left behind; returns when it takes connections. */
  readonly start: () => Promise<void>
  /** Ends it and removes its files. */
  readonly remove: () => Promise<void>
}

/** The folder of the newest PostgreSQL that is installed; undefined where there is none. */
export async function findPostgres(): Promise<string | undefined> {
  const versions = await readdir(INSTALLED).catch(() => [])
  const newest = versions.toSorted((one, other) => Number(one) - Number(other)).at(-1)
  return newest && join(INSTALLED, newest, 'bin')
}

/** Makes an empty PostgreSQL in a temporary folder and starts it. */
export const startPostgres = (binaries: string): Promise<Restartable> =>
  serve(binaries, {
    program: 'initdb',
    args: (data) => ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'],
  })

/** Copies a PostgreSQL that runs here and starts the copy, which follows the original and stays so far behind. */
export const startStandby = (
  binaries: string,
  { url, behindMs }: { url: string; behindMs: number },
): Promise<Restartable> =>
  serve(binaries, {
    program: 'pg_basebackup',
    args: (data) => ['-D', data, '-d', url, '-R', '-X', 'stream', '-c', 'fast', '--no-sync'],
    settings: [`recovery_min_apply_delay=${behindMs}`],
  })

/** How a folder of data is made, and what its server is told beside. */
type Making = {
  readonly program: string
  readonly args: (data: string) => string[]
  readonly settings?: readonly string[]
}

async function serve(binaries: string, making: Making): Promise<Restartable> {
  const owner = await unprivileged()
  const folder = await mkdtemp(join(tmpdir(), 'export-api-postgres-'))
  let postmaster: ChildProcess | undefined

  async function kill(): Promise<void> {
    if (postmaster?.pid === undefined || postmaster.exitCode !== null || postmaster.signalCode !== null)
      return
    const family = [postmaster.pid, ...(await childrenOf(postmaster.pid))]
    const gone = once(postmaster, 'exit')
    for (const pid of family) signal(pid, 'SIGKILL')
    await gone
    while (family.some((pid) => signal(pid, 0))) await delay(10)
  }

  // Its other processes end by themselves when the first one has.
  const atExit = () => {
    if (postmaster?.pid !== undefined) signal(postmaster.pid, 'SIGKILL')
    rmSync(folder, REMOVED)
  }
  process.on('exit', atExit)
  const remove = async () => {
    await kill()
    process.off('exit', atExit)
    await rm(folder, REMOVED)
  }

  try {
    if (owner !== undefined) await chown(folder, owner.uid, owner.gid)
    const data = join(folder, 'data')
    const options = { ...owner, cwd: folder, env: { PATH: process.env.PATH, LC_ALL: 'C' } }
    await run(join(binaries, making.program), making.args(data), options)

    const port = await freePort()
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`
    const settings = ['listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, 'fsync=off']
    const toBudget = [...settings, ...(making.settings ?? [])].flatMap((setting) => ['-c', setting])
    const args = ['-D', data, '-p', String(port), ...toBudget]

    const start = async () => {
      postmaster = spawn(join(binaries, 'postgres'), args, { ...options, stdio: 'ignore' })
      for (let tries = 0; !(await answers(url)); tries += 1) {
        if (tries === 200 || postmaster.exitCode !== null) throw new Error('PostgreSQL does not start')
        await delay(50)
      }
    }
    await start()
    return { url, kill, start, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Whom PostgreSQL runs as, since it refuses to run as root: its own user there, and else whoever runs the tests. */
async function unprivileged(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const id = async (option: string) => Number((await run('id', [option, 'postgres'])).stdout)
  return { uid: await id('-u'), gid: await id('-g') }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

const answers = (url: string): Promise<boolean> =>
  withClient(url, (client) => client.query('select')).then(
    () => true,
    () => false,
  )

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.split(' ').filter(Boolean).map(Number)
}

/** Sends a signal; tells whether there was a process to get it. */
function signal(pid: number, name: 'SIGKILL' | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}
