import { existsSync } from 'node:fs'

/** Where an owner keeps settings, in the folder that npm runs commands in. */
const FILE = '.dev.vars'

/** Reads the owner's settings, where there are any, into the environment; what is set there already stays. */
export function loadDevVars(): void {
  if (existsSync(FILE)) process.loadEnvFile(FILE)
}
