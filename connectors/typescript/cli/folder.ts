import { existsSync } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { UsageError } from './errors.ts'
import { listOf } from './text.ts'

const UNFINISHED = '.unfinished'

/** Makes a folder and those around it. Node's own loops in a file system that takes no folders. */
export async function makeFolder(path: string): Promise<void> {
  if (existsSync(path)) return
  const parent = dirname(path)
  if (parent !== path) await makeFolder(parent)
  await mkdir(path).catch((error) => {
    // Another process was faster.
    if (!existsSync(path)) throw error
  })
}

/** Replaces a file by the one that `write` writes to a path next to it, unless `write` returns false. */
export async function replaceFile(path: string, write: (path: string) => Promise<boolean>): Promise<void> {
  // Spark, Athena and pyarrow do not read files whose names begin with a dot.
  const unfinished = join(dirname(path), `.${basename(path)}${UNFINISHED}`)
  await makeFolder(dirname(path))
  if (!(await write(unfinished))) return rm(unfinished)
  await flushToDisk(unfinished)
  await rename(unfinished, path)
  // Windows opens no directories.
  if (process.platform !== 'win32') await flushToDisk(dirname(path), 'r')
}

/** Returns when the content of a file would survive a power failure. For a directory, the flag is `r`. */
export async function flushToDisk(path: string, flag = 'r+'): Promise<void> {
  const handle = await open(path, flag)
  await handle.sync().finally(() => handle.close())
}

/** Removes what a killed sync left. */
export async function removeUnfinished(folder: string): Promise<void> {
  for (const path of await readdir(folder, { recursive: true })) {
    if (path.endsWith(UNFINISHED)) await rm(join(folder, path))
  }
}

/** Throws `UsageError` for a file, and for a folder that has files of others and no copy, not even one that was begun. */
export async function refuseOthers(folder: string): Promise<void> {
  if (!existsSync(folder)) return
  if (!(await stat(folder)).isDirectory()) throw new UsageError(`${folder} is a file. Use a folder.`)
  const names = await readdir(folder)
  const others = names.filter((name) => !IGNORED.test(name))
  if (others.length === 0 || names.some((name) => OF_COPY.test(name))) return
  throw new UsageError(
    `${folder} has no copy, but other files: ${listOf(others.sort(), 3)}. Use a new folder, such as ${join(folder, 'copy')}.`,
  )
}

/** What every copy has, also one that was begun. */
const OF_COPY = /^(_state$|endpoint=)/

/** What can be in a folder before the first copy: locks, a report, and what a system or its tools put there. */
const IGNORED = /^(\.|_lock(\.|$)|report\.html$|lost\+found$)/
