import { watchBundle } from '../cli/workers/watch.ts'
import { reasonOf } from '../drizzle/db/connect.ts'
import type { Emulator } from './emulator.ts'

/** Reloads the Workers when a source file changes. After an error the previous Workers keep serving. */
export async function reloadOnChange(emulator: Emulator): Promise<never> {
  console.log('Watching functions/, lib/, site/ and drizzle/. npm run check finds errors of types.')
  return watchBundle(async () => {
    try {
      await emulator.reload()
      console.log('Reloaded.')
    } catch (error) {
      console.error(`The new Workers did not start; the previous ones keep serving. ${reasonOf(error)}`)
    }
  })
}
