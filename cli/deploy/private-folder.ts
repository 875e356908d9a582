import { rmSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SIGNALS } from '../program.mjs'

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
