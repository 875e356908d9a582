import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { Mistake } from '../database.ts'

/** How a run of wrangler ended, and what it said. */
export type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string }

/** What wrangler is told beside its arguments: nobody to ask, nothing to report, nothing to colour. */
const QUIET = { CI: 'true', WRANGLER_SEND_METRICS: 'false', NO_COLOR: '1', FORCE_COLOR: '0' }

/** Runs the wrangler that npm puts on the path. Its output can be told to people: it repeats no secret. */
export async function wrangler(args: readonly string[]): Promise<Ran> {
  const child = spawn('wrangler', args, {
    env: { ...process.env, ...QUIET },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const failed = new Promise<never>((_, reject) => {
    child.on('error', () => reject(new Mistake('wrangler is not on the path: npm run puts it there.')))
  })
  const ended = new Promise<number>((resolve) => {
    child.on('close', (code) => resolve(code ?? 1))
  })
  const ran = Promise.all([ended, text(child.stdout), text(child.stderr)])
  const [code, stdout, stderr] = await Promise.race([ran, failed])
  return { code, stdout, stderr }
}

/** Why wrangler failed, in its own words: the line of its error, else the last one that it wrote. */
export function reasonOfFailure({ stdout, stderr }: Ran): string {
  const lines = `${stdout}\n${stderr}`.split('\n').map((line) => line.trim())
  const error = lines.find((line) => line.includes('[ERROR]'))?.replace(/^.*\[ERROR\]\s*/, '')
  return error ?? lines.findLast((line) => line !== '' && !line.includes('Logs were written')) ?? 'no reason given'
}
