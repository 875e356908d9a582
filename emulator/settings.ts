import { UsageError } from '../drizzle/db/connect.ts'
import { parseEnv } from '../lib/env.ts'
import { BINDINGS, variables } from './workers/bindings.ts'

/** What `npm start` is told by its environment. */
export interface Settings {
  host: string
  port: number
  databaseUrl: string | undefined
  redisUrl: string | undefined
  latencyMs: number
  /** Where a debugger reaches the Workers; nowhere unless said so. */
  inspectorPort: number | undefined
}

type Environment = Readonly<Record<string, string | undefined>>

/** Reads the environment; throws a UsageError that names the variable, without its value where that can be a secret. */
export function readSettings(environment: Environment): Settings {
  const settings = {
    host: environment.HOST || '127.0.0.1',
    port: whole(environment, 'PORT', { default: 8787, most: 65_535 }),
    databaseUrl: address(environment, 'DATABASE_URL', ['postgres:', 'postgresql:']),
    redisUrl: address(environment, 'REDIS_URL', ['redis:', 'rediss:']),
    latencyMs: whole(environment, 'LATENCY_MS', { default: 0, most: 60_000 }),
    inspectorPort: whole(environment, 'INSPECTOR_PORT', { default: undefined, most: 65_535 }),
  }
  try {
    parseEnv({ ...BINDINGS, ...variables(environment) })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
  return settings
}

function whole<Default>(
  environment: Environment,
  name: string,
  limits: { default: Default; most: number },
): number | Default {
  const text = environment[name]
  if (text === undefined || text === '') return limits.default
  if (/^\d+$/.test(text) && Number(text) <= limits.most) return Number(text)
  throw new UsageError(`${name} must be a whole number from 0 to ${limits.most}, not "${text}".`)
}

function address(environment: Environment, name: string, protocols: string[]): string | undefined {
  const text = environment[name]
  if (text === undefined || text === '') return undefined
  if (URL.canParse(text) && protocols.includes(new URL(text).protocol)) return text
  throw new UsageError(
    `${name} must be a URL that begins with ${protocols.map((p) => `${p}//`).join(' or ')}.`,
  )
}
