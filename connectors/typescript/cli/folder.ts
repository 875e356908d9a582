import { existsSync } from 'node:fs'
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

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
