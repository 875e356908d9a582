import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const PEAK_MEMORY = fileURLToPath(new URL('./peak-memory.mjs', import.meta.url))

/** What a process has printed, and its peak memory. */
export type Finished = { readonly lines: readonly string[]; readonly peakMib: number }

/** Runs a file as a process of its own. Throws when it fails. */
export async function runNode(
  file: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Finished> {
  const child = spawn(process.execPath, ['--import', PEAK_MEMORY, file, ...args], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  if (code !== 0) throw new Error(`${file} exited with ${code}: ${stdout}`)
  const lines = stdout.trim().split('\n')
  return { lines, peakMib: Number(lines.pop()) / 1024 }
}
