import { readFileSync } from 'node:fs'

/** Milliseconds between two looks at whether npm is still there. */
const LOOK_MS = 1_000

/**
 * Ends the process, successfully, on Ctrl-C, on a request to end, and when the terminal or the npm that started it
 * has gone. The runtime, its files and the database's thread end with it: each is bound to the process's exit.
 */
export function shutdownOnSignals(): void {
  const stop = () => process.exit(0)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  // Nobody reads what it prints any more.
  process.stdout.on('error', stop)
  const npm = process.env.npm_lifecycle_event === undefined ? undefined : findNpm(process.ppid)
  if (npm !== undefined) setInterval(() => isAlive(npm) || stop(), LOOK_MS).unref()
}

/** The npm above a process, past the shell between them, which outlives it. Known where there is a /proc. */
function findNpm(pid: number): number | undefined {
  try {
    if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('npm ')) return pid
    const parent = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return parent === undefined ? undefined : findNpm(Number(parent))
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
