import { spawnSync } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { UsageError } from '../../drizzle/db/connect.ts'

/** Makes wrangler ask nothing, report nothing and print no colors. */
const ENVIRONMENT = { CI: 'true', WRANGLER_SEND_METRICS: 'false', NO_COLOR: '1', FORCE_COLOR: '0' }

/** Runs the wrangler that npm puts on the PATH. Returns its exit code and all that it printed. */
export function wrangler(args: readonly string[]): { code: number; output: string } {
  const { error, status, stdout, stderr } = spawnSync('wrangler', args, {
    env: { ...process.env, ...ENVIRONMENT },
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    maxBuffer: Number.POSITIVE_INFINITY,
  })
  if (error) throw new UsageError('wrangler is not on the PATH. Use npm run, after npm ci.')
  return { code: status ?? 1, output: stripVTControlCharacters(`${stdout}${stderr}`).trim() }
}
