import { existsSync } from 'node:fs'

const FILE = '.dev.vars'

/** Loads .dev.vars into the environment if it exists. Variables that are already set win. */
export function loadDevVars(): void {
  if (existsSync(FILE)) process.loadEnvFile(FILE)
}
