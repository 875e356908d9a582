import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { UsageError } from '../../drizzle/db/connect.ts'

/** Debian keeps it beside the server, not on the PATH. */
const DEBIAN = '/usr/lib/postgresql'

/** Runs a statement again and again by pgbench, prepared once a connection; one transaction each. */
export async function pgbench(
  databaseUrl: string,
  statement: string,
  { times, connections }: { readonly times: number; readonly connections: number },
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'pgbench-'))
  try {
    const script = join(folder, 'script.sql')
    await writeFile(script, `${statement.replaceAll('\n', ' ')};\n`)
    await promisify(execFile)(program(), [
      ...['--no-vacuum', '--protocol', 'prepared', '--file', script],
      ...['--client', String(connections), '--transactions', String(Math.ceil(times / connections))],
      databaseUrl,
    ])
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw new UsageError(
        'This section needs pgbench, which comes with PostgreSQL’s server or its contrib package',
      )
    }
    throw error
  } finally {
    await rm(folder, { recursive: true })
  }
}

function program(): string {
  try {
    const [version] = readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a))
    return version === undefined ? 'pgbench' : join(DEBIAN, version, 'bin/pgbench')
  } catch {
    return 'pgbench'
  }
}
