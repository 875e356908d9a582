import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const PACKAGE = new URL('../../connectors/typescript/', import.meta.url)

/** Prints the peak memory of the process in KiB as its last line. */
const PEAK_MEMORY = `data:text/javascript,${encodeURIComponent(`
  import { readFileSync, writeSync } from 'node:fs'
  process.on('exit', () =>
    writeSync(1, /^VmHWM:\\s+(\\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))[1] + '\\n'))`)}`

/** The rows of which a command has logged the number, and its peak memory. */
type Finished = { readonly rows: number; readonly peakMib: number }

/** Builds the package, and returns a function that runs its command. */
export async function buildCommand() {
  await runNode([fileURLToPath(new URL('build.ts', PACKAGE))], {})
  const file = fileURLToPath(new URL('dist/export-api.js', PACKAGE))
  return async (args: readonly string[], { url, key }: Access): Promise<Finished> => {
    const environment = { EXPORT_API_URL: url, EXPORT_API_KEY: key }
    const stdout = await runNode(['--import', PEAK_MEMORY, file, ...args], environment)
    const [last = '', peak] = stdout.trim().split('\n').slice(-2)
    return { rows: JSON.parse(last).rows, peakMib: Number(peak) / 1024 }
  }
}

type Access = { readonly url: string; readonly key: string }

/** Runs Node. Returns what it prints. Throws when it fails. */
async function runNode(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  if (code !== 0) throw new Error(`node ${args.join(' ')} exited with ${code}: ${stdout}`)
  return stdout
}
