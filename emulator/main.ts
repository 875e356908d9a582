import { readFileSync } from 'node:fs'
import { isAlive } from '../cli/local/pid-lock.mjs'
import { type Options, readOptions } from './options.ts'
import { startEmbeddedPostgres } from './postgres/embedded.ts'
import { makeStateFolder, takeState } from './state.ts'

const NPM_POLL_MS = 1_000

// npm start.
shutdownOnSignals()
try {
  const options = readOptions()
  if (options.keys) (await import('./demo-keys.ts')).printKeys()
  else await start(options)
} catch (error) {
  const { reportError } = await import('../cli/local/report-error.ts')
  reportError(error)
  process.exit(1)
}

async function start(options: Options): Promise<void> {
  makeStateFolder()
  const embedded = process.env.DATABASE_URL ? undefined : startDemo(options)
  // The embedded Postgres starts while the other modules load.
  const { serve } = await import('./npm-start.ts')
  await serve(options, embedded)
}

function startDemo(options: Options) {
  const state = takeState(options)
  const postgres = startEmbeddedPostgres(state?.postgres)
  // The error is reported where the promise is awaited.
  postgres.catch(() => undefined)
  return { state, postgres }
}

/**
 * Exits with code 0 on SIGINT, SIGTERM or SIGHUP, and when the terminal or the parent npm process is gone. workerd, its
 * temporary files and the database thread end with the process.
 */
function shutdownOnSignals(): void {
  const shutdown = () => process.exit(0)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, shutdown)
  // The reader of the output is gone.
  process.stdout.on('error', shutdown)
  const npm = process.env.npm_lifecycle_event === undefined ? undefined : findNpm(process.ppid)
  if (npm !== undefined) setInterval(() => isAlive(npm) || shutdown(), NPM_POLL_MS).unref()
}

/** Returns the pid of the npm process above `pid`; undefined without /proc. The shell between them outlives npm. */
function findNpm(pid: number): number | undefined {
  try {
    if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('npm ')) return pid
    const parent = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return parent === undefined ? undefined : findNpm(Number(parent))
  } catch {
    return undefined
  }
}
