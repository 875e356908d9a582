import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installed } from '../../bench/install.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const COMPILED = join(ROOT, 'node_modules/.cache/mutate/compiled')

/** Has Stryker judge the mutants of lib/, or of some of its files; whether enough of them die. It prints what it finds. */
export async function judgeLib(files: readonly string[]): Promise<boolean> {
  const folder = await installed('stryker', { '@stryker-mutator/core': '10.1.1' })
  const stryker = join(folder, 'node_modules/@stryker-mutator/core/bin/stryker.js')
  const which = files.length > 0 ? ['--mutate', files.join(',')] : []
  const child = spawn(process.execPath, [stryker, 'run', 'tools/mutation/lib/stryker.json', ...which], {
    cwd: ROOT,
    // The same modules are loaded for every mutant.
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED },
    stdio: 'inherit',
  })
  const [status] = await once(child, 'close')
  return status === 0
}
