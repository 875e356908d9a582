import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installed } from '../install.ts'

// Runs Stryker over lib/, or over the files that the command line names.
const files = process.argv.slice(2)
const folder = await installed('stryker', { '@stryker-mutator/core': '10.1.1' })
const stryker = join(folder, 'node_modules/@stryker-mutator/core/bin/stryker.js')
const only = files.length > 0 ? ['--mutate', files.join(',')] : []
const child = spawn(process.execPath, [stryker, 'run', 'tools/mutation/stryker.json', ...only], {
  cwd: fileURLToPath(new URL('../..', import.meta.url)),
  stdio: 'inherit',
})
const [status] = await once(child, 'close')
process.exitCode = status
