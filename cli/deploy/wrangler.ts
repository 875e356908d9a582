import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'
import { UsageError } from '../../drizzle/db/connect.ts'

/** Makes wrangler ask nothing, report nothing and print no colors. */
const ENVIRONMENT = { CI: 'true', WRANGLER_SEND_METRICS: 'false', NO_COLOR: '1', FORCE_COLOR: '0' }

/** Runs the wrangler that npm puts on the PATH. Returns its exit code and all that it printed. */
export async function wrangler(args: readonly string[]): Promise<{ code: number; output: string }> {
  const child = spawn('wrangler', args, {
    env: { ...process.env, ...ENVIRONMENT },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const failed = new Promise<never>((_, reject) => {
    child.on('error', () => reject(new UsageError('wrangler is not on the PATH. Use npm run, after npm ci.')))
  })
  const ended = new Promise<number>((resolve) => {
    child.on('close', (code) => resolve(code ?? 1))
  })
  const ran = Promise.all([ended, text(child.stdout), text(child.stderr)])
  const [code, stdout, stderr] = await Promise.race([ran, failed])
  return { code, output: stripVTControlCharacters(`${stdout}${stderr}`).trim() }
}
