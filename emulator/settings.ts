import { resolve } from 'node:path'
import { UsageError } from '../drizzle/db/connect.ts'
import { parseEnv } from '../lib/env.ts'
import { BINDINGS, variables } from './workers/bindings.ts'

/** The settings of `npm start`. */
export interface Settings {
  host: string
  port: number
  databaseUrl: string | undefined
  redisUrl: string | undefined
  /** The path of Neon's proxy. */
  neonProxy: string | undefined
  latencyMs: number
  /** The port on which a debugger reaches the Workers; without it there is no inspector. */
  inspectorPort: number | undefined
}

const POSTGRES = ['postgres:', 'postgresql:']

/** The addresses of this machine that others do not reach. */
const LOOPBACK = /^(localhost|127(\.\d+){3}|::1|\[::1\])$/

type Environment = Readonly<Record<string, string | undefined>>

/** Reads the environment. Throws `UsageError` that names the variable, and never the value of a URL or a secret. */
export function readSettings(environment: Environment): Settings {
  const settings = {
    host: environment.HOST || '127.0.0.1',
    port: readInteger(environment, 'PORT', { default: 8787, max: 65_535 }),
    databaseUrl: readUrl(environment, 'DATABASE_URL', POSTGRES),
    redisUrl: readUrl(environment, 'REDIS_URL', ['redis:', 'rediss:']),
    neonProxy: readNeonProxy(environment),
    latencyMs: readInteger(environment, 'LATENCY_MS', { default: 0, max: 60_000 }),
    inspectorPort: readInteger(environment, 'INSPECTOR_PORT', { default: undefined, max: 65_535 }),
  }
  try {
    parseEnv({ ...BINDINGS, ...variables(environment) })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
  return settings
}

export const isLoopback = (host: string): boolean => LOOPBACK.test(host)

/** Throws `UsageError` when other machines would reach the service and --allow-network is missing. */
export function requireNetworkOption(
  { host }: Settings,
  { allowNetwork }: { readonly allowNetwork: boolean },
): void {
  if (isLoopback(host) || allowNetwork) return
  throw new UsageError(
    `HOST ${host} lets other machines reach the service, and with the demo keys all of its data. To allow it: HOST=${host} npm start -- --allow-network`,
  )
}

/** Reads NEON_PROXY. Throws `UsageError` unless DATABASE_URL is a server of this machine, where it may set passwords. */
export function readNeonProxy(environment: Environment): string | undefined {
  if (!environment.NEON_PROXY) return undefined
  const url = readUrl(environment, 'DATABASE_URL', POSTGRES)
  if (url && isLoopback(new URL(url).hostname)) return resolve(environment.NEON_PROXY)
  throw new UsageError(
    "NEON_PROXY sets the passwords of the Workers' roles: set DATABASE_URL to a PostgreSQL server of this machine.",
  )
}

function readInteger<Default>(
  environment: Environment,
  name: string,
  limits: { default: Default; max: number },
): number | Default {
  const text = environment[name]
  if (!text) return limits.default
  if (/^\d+$/.test(text) && Number(text) <= limits.max) return Number(text)
  throw new UsageError(`${name} must be a whole number from 0 to ${limits.max}, not "${text}".`)
}

function readUrl(environment: Environment, name: string, protocols: string[]): string | undefined {
  const text = environment[name]
  if (!text) return undefined
  if (URL.canParse(text) && protocols.includes(new URL(text).protocol)) return text
  throw new UsageError(`${name} must be a URL that starts with ${protocols.join('// or ')}//.`)
}
