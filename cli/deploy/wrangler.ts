import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { SIGNALS } from '../program.mjs'

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

/** Writes JSON files that only this user can read, and removes them when `work` ends or a signal ends this process. */
export async function withPrivateFolder<Result>(
  work: (write: (name: string, content: unknown) => Promise<string>) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'export-api-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const exit = (_: string, signal: number) => process.exit(128 + signal)
  process.on('exit', remove)
  for (const signal of SIGNALS) process.on(signal, exit)
  try {
    return await work(async (name, content) => {
      const path = join(folder, name)
      await writeFile(path, JSON.stringify(content), { mode: 0o600 })
      return path
    })
  } finally {
    remove()
    process.off('exit', remove)
    for (const signal of SIGNALS) process.off(signal, exit)
  }
}
