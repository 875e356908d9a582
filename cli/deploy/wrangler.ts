import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'
import { UsageError } from '../../drizzle/db/connect.ts'

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
    child.on('error', () => reject(new UsageError('wrangler is not on the path: npm run puts it there.')))
  })
  const ended = new Promise<number>((resolve) => {
    child.on('close', (code) => resolve(code ?? 1))
  })
  const ran = Promise.all([ended, text(child.stdout), text(child.stderr)])
  const [code, stdout, stderr] = await Promise.race([ran, failed])
  return { code, stdout, stderr }
}

/** Where wrangler's error ends and its advice begins. */
const ADVICE = /^(If you think|To continue without|🪵|Please report)/u

/** Why wrangler failed, in its own words: its error, else the last line that it wrote. */
export function reasonOfFailure({ stdout, stderr }: Ran): string {
  const lines = stripVTControlCharacters(`${stdout}\n${stderr}`)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const from = lines.findIndex((line) => line.includes('[ERROR]'))
  if (from === -1) return lines.at(-1) ?? 'no reason given'
  const error = lines.slice(from)
  const end = error.findIndex((line) => ADVICE.test(line))
  return error
    .slice(0, end === -1 ? undefined : end)
    .join(' ')
    .replace(/^.*?\[ERROR\]\s*/, '')
}
