/** Milliseconds between two looks at whether npm is still there. */
const LOOK_MS = 1_000

/**
 * Ends the process, successfully, on Ctrl-C, on a request to end, and when the terminal or the npm that started it
 * has gone. The runtime, its files and the database's thread end with it: each is bound to the process's exit.
 */
export function stopOnSignals(): void {
  const stop = () => process.exit(0)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  // Nobody reads what it prints any more.
  process.stdout.on('error', stop)
  const parent = process.ppid
  if (process.env.npm_lifecycle_event !== undefined) {
    setInterval(() => process.ppid === parent || stop(), LOOK_MS).unref()
  }
}
