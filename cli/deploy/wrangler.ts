import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

const WRANGLER = fileURLToPath(new URL('../../node_modules/wrangler/bin/wrangler.js', import.meta.url))

/** Makes wrangler ask nothing, report nothing, print no colors, and write no log, which could have the secrets. */
const ENVIRONMENT = {
  CI: 'true',
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_WRITE_LOGS: 'false',
  NO_COLOR: '1',
  FORCE_COLOR: '0',
}

/**
 * Runs wrangler on this Node, since the first one on the PATH may be another. Ends it when this process exits. Returns its
 * exit code and all that it printed.
 */
export async function wrangler(
  args: readonly string[],
  program = WRANGLER,
): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, ...ENVIRONMENT },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const end = () => child.kill()
  process.prependListener('exit', end)
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  }).finally(() => process.off('exit', end))
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  return { code, output: stripVTControlCharacters(`${stdout}${stderr}`).trim() }
}
