import { UsageError } from '../drizzle/db/connect.ts'
import { isLoopback } from '../lib/http/app.ts'
import { parseEnv } from '../lib/request/env.ts'
import { BINDINGS, variables } from './workers/bindings.ts'

/** The settings of `npm start`. */
export interface Settings {
  host: string
  port: number
  databaseUrl: string | undefined
  redisUrl: string | undefined
  latencyMs: number
  /** Requests a minute of an address and of a key; without it, those of wrangler.toml. */
  outerLimit: number | undefined
  /** The port on which a debugger reaches the Workers; without it there is no inspector. */
  inspectorPort: number | undefined
}

const POSTGRES = ['postgres:', 'postgresql:']

type Environment = Readonly<Record<string, string | undefined>>

/** Reads the environment. Throws `UsageError` that names the variable, and never the value of a URL or a secret. */
export function readSettings(environment: Environment): Settings {
  const settings = {
    host: environment.HOST || '127.0.0.1',
    port: readInteger(environment, 'PORT', { default: 8787, max: 65_535 }),
    databaseUrl: readUrl(environment, 'DATABASE_URL', POSTGRES),
    redisUrl: readUrl(environment, 'REDIS_URL', ['redis:', 'rediss:']),
    latencyMs: readInteger(environment, 'LATENCY_MS', { default: 0, max: 60_000 }),
    outerLimit: readInteger(environment, 'OUTER_LIMIT', { default: undefined, min: 1, max: 9_999_999 }),
    inspectorPort: readInteger(environment, 'INSPECTOR_PORT', { default: undefined, max: 65_535 }),
  }
  try {
    parseEnv({ ...BINDINGS, CURSOR_SECRET: 'random', ...variables(environment) })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
  return settings
}

/** Throws `UsageError` when other machines would reach the service and --allow-network is missing. */
export function requireNetworkOption(
  { host }: Settings,
  { allowNetwork }: { readonly allowNetwork?: boolean },
): void {
  if (isLoopback(host) || allowNetwork) return
  throw new UsageError(
    `HOST ${host} lets other machines reach the service, and with the demo keys all of its data. To allow it: HOST=${host} npm start -- --allow-network`,
  )
}

function readInteger<Default>(
  environment: Environment,
  name: string,
  { default: fallback, min = 0, max }: { default: Default; min?: number; max: number },
): number | Default {
  const text = environment[name]
  if (!text) return fallback
  if (/^\d+$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text)
  throw new UsageError(`${name} must be a whole number from ${min} to ${max}, not "${text}".`)
}

function readUrl(environment: Environment, name: string, protocols: string[]): string | undefined {
  const text = environment[name]
  if (!text) return undefined
  if (URL.canParse(text) && protocols.some((protocol) => text.startsWith(`${protocol}//`))) return text
  throw new UsageError(`${name} must be a URL that starts with ${protocols.join('// or ')}//.`)
}
