import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { UsageError } from '../drizzle/db/connect.ts'

const FILE = '.dev.vars'

/** Loads .dev.vars into the environment if it exists. Variables that are already set win. */
export function loadDevVars(): void {
  if (!existsSync(FILE)) return
  // loadEnvFile takes the byte order mark of an editor for a part of the first name.
  const variables = parseEnv(readFileSync(FILE, 'utf8').replace(/^\uFEFF/, ''))
  Object.assign(process.env, { ...variables, ...process.env })
}

/** Returns the origin of the service from the value of an option, else from API_URL. */
export function readServiceOrigin(value: string | undefined, option: string): string {
  loadDevVars()
  const url = value ?? process.env.API_URL
  if (!url) throw new UsageError(`The URL of the service is missing. Set API_URL or pass ${option}.`)
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new UsageError('The URL of the service must look like https://api.example.com.')
  }
  return new URL(url).origin
}
