import { execFile } from 'node:child_process'
import { setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { watchBundle } from '../bundle/watch.ts'
import { reasonOf } from '../drizzle/db/connect.ts'
import type { Emulator } from './start.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const LOW_PRIORITY = 10
const TSC = fileURLToPath(new URL('../node_modules/.bin/tsc', import.meta.url))

/** Reloads the Workers when a source file changes. After an error the previous Workers keep serving. */
export async function reloadOnChange(emulator: Emulator): Promise<never> {
  let types = checkTypes()
  process.on('exit', () => types.abort())
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
      types = checkTypes()
    },
  })
}

/** Runs tsc in the background, at low priority, and prints its errors. */
function checkTypes(): AbortController {
  const controller = new AbortController()
  const { signal } = controller
  const args = [TSC, '--noEmit', '--pretty', String(process.stderr.isTTY === true)]
  const { pid } = execFile(process.execPath, args, { cwd: ROOT, signal }, (error, stdout) => {
    if (error !== null && !signal.aborted) console.error(stdout)
  })
  if (pid !== undefined) setPriority(pid, LOW_PRIORITY)
  return controller
}
