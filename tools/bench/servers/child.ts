import type { ServerOptions } from './start.ts'

/** Returns the options of this process, which exits together with the benchmark. */
export function serverOptions(): ServerOptions {
  process.once('disconnect', () => process.exit(0))
  return JSON.parse(process.argv[2] ?? '{}')
}

/** Reports the address of this process to the benchmark. */
export const listening = (url: string): unknown => process.send?.(url)
