import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { watchBundle } from '../bundle/watch.ts'
import { reasonOf } from '../drizzle/db/connect.ts'
import type { Emulator } from './start.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const TSC = fileURLToPath(new URL('../node_modules/.bin/tsc', import.meta.url))

/** As in npm run check. */
const PROJECTS = ['.', 'functions']

const LOW_PRIORITY = 10

/** Reloads the Workers when a source file changes. After an error the previous Workers keep serving. */
export async function reloadOnChange(emulator: Emulator): Promise<never> {
  let types = new AbortController()
  const checkTypes = () => {
    types = new AbortController()
    void printTypeErrors(types.signal)
  }
  process.on('exit', () => types.abort())
  checkTypes()
  console.log('Watching functions/, lib/, site/ and drizzle/.')
  return watchBundle({
    onChange: () => types.abort(),
    onBuild: async () => {
      try {
        await emulator.reload()
        console.log('Reloaded.')
      } catch (error) {
        console.error(`The new Workers did not start; the previous ones keep serving. ${reasonOf(error)}`)
      }
      checkTypes()
    },
  })
}

/** Runs tsc in the background, at low priority so that it does not delay a reload. */
async function printTypeErrors(signal: AbortSignal): Promise<void> {
  for (const project of PROJECTS) {
    if (signal.aborted) return
    const args = [TSC, '--noEmit', '--project', project, '--pretty', String(process.stderr.isTTY === true)]
    // In a process group of its own: tsc starts the compiler as another process, and both have to end.
    const tsc = spawn(process.execPath, args, {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    })
    const { pid } = tsc
    if (pid !== undefined) {
      setPriority(pid, LOW_PRIORITY)
      signal.addEventListener('abort', () => tsc.exitCode === null && process.kill(-pid))
    }
    const [output] = await Promise.all([text(tsc.stdout), once(tsc, 'close')])
    if (output !== '' && !signal.aborted) {
      console.error(output)
      return
    }
  }
}
