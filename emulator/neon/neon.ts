import type { Handler } from '../workers/egress.ts'
import { imitateNeon } from './imitation.ts'
import { startNeonProxy } from './proxy.ts'

/** What answers the Workers' requests to Neon. */
export interface Neon {
  handle: Handler
  close(): Promise<void>
}

export interface NeonOptions {
  databaseUrl: string
  /** The connection strings that Workers may send. */
  connectionStrings: readonly string[]
}

/** Answers as Neon in this process, or starts Neon's proxy if its path is given. */
export const startNeon = async (options: NeonOptions, proxy: string | undefined): Promise<Neon> =>
  proxy === undefined ? imitateNeon(options) : startNeonProxy(options, proxy)
