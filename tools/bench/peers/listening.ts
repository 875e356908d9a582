/** What the benchmark tells a server that it starts. */
export type Told = { readonly databaseUrl: string; readonly redisUrl?: string; readonly folder?: string }

/** What this process was told; it ends with the benchmark that started it. */
export function toBudget(): Told {
  process.once('disconnect', () => process.exit(0))
  return JSON.parse(process.argv[2] ?? '{}')
}

/** Tells the benchmark where this process listens. */
export const listening = (url: string): unknown => process.send?.(url)
