import { execFile } from 'node:child_process'
import { glob, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A PostgreSQL server that runs programs for a superuser. */
export type Server = {
  /** The home directory of the server's user. */
  readonly home: string
  /** What a client needs to reach it. */
  readonly env: Readonly<Record<string, string>>
  readonly stop: () => Promise<unknown>
}

/** Starts the newest PostgreSQL of this machine in a folder. */
export async function startPostgres(folder: string): Promise<Server> {
  const isRoot = process.getuid?.() === 0
  const found: string[] = []
  for await (const path of glob('/usr/lib/postgresql/*/bin/initdb')) found.push(path)
  found.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  const bin = dirname(found.at(-1) ?? '')
  const home = join(folder, 'postgres')
  // PostgreSQL does not run as root.
  const asServer = (program: string, ...args: string[]) => {
    const command = ['env', `HOME=${home}`, join(bin, program), ...args]
    const [first = '', ...rest] = isRoot ? ['runuser', '-u', 'postgres', '--', ...command] : command
    return run(first, rest)
  }
  await mkdir(home)
  if (isRoot) await run('chown', ['postgres', home])
  const data = join(home, 'data')
  await asServer('initdb', '-D', data, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--no-sync')
  const options = `-k ${home} -c listen_addresses='' -c fsync=off`
  await asServer('pg_ctl', '-D', data, '-w', '-l', join(home, 'log'), '-o', options, 'start')
  return {
    home,
    env: { PGHOST: home, PGUSER: 'postgres', PGDATABASE: 'postgres' },
    stop: () => asServer('pg_ctl', '-D', data, '-m', 'immediate', 'stop'),
  }
}
