import { type Dirent, existsSync, rmSync } from 'node:fs'
import { link, lstat, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { asyncBufferFromFile } from 'hyparquet'
import { fileWriter } from 'hyparquet-writer'
import { CommandError, isSystemError, StoreError } from './errors.ts'
import { sha256OfFile } from './hash.ts'
import { insidePath, newFile, type Store, type Stored } from './store.ts'

const FOLDER: Stored = { size: -1, modified: 0 }

/** A copy in a folder. */
export function folderStore(folder: string): Store {
  /**
   * Returns the path of a file or folder. Throws `StoreError` when there is something else: behind a link are files of
   * others, and the end of a pipe or device does not come.
   */
  const at = async (path: string, isFolder = false): Promise<string> => {
    if (path === '' || path === '.') return folder
    const found = join(await at(dirname(path), true), basename(insidePath(path)))
    const stats = await unlessMissing(lstat(found))
    if (stats === undefined || (isFolder ? stats.isDirectory() : stats.isFile())) return found
    throw new StoreError(
      `${found} is no ${isFolder ? 'folder' : 'file'}, but a link or something else. Move it away.`,
    )
  }
  return {
    location: folder,
    async list(path, after = '') {
      const found = await at(path, true)
      const entries = (await unlessMissing(readdir(found, { withFileTypes: true }))) ?? []
      const later = entries.filter(({ name }) => name > after)
      const described = await Promise.all(later.map((entry) => describe(found, entry)))
      return new Map(described.filter((entry) => entry !== undefined))
    },
    read: async (path) => unlessMissing(readFile(await at(path))),
    async open(path) {
      const found = await at(path)
      if (existsSync(found)) return asyncBufferFromFile(found)
      throw new CommandError(`${found} is missing.`)
    },
    async create(path, write) {
      const target = await at(path)
      await makeFolder(dirname(target))
      try {
        await write(fileWriter(target))
        await flushToDisk(target)
      } catch (error) {
        await rm(target, { force: true })
        throw error
      }
      await flushFolder(dirname(target))
      const file = await asyncBufferFromFile(target)
      return { size: file.byteLength, sha256: await sha256OfFile(file) }
    },
    // Unlike a rename, a link does not replace a file.
    createIfAbsent: async (path, text) =>
      writeAside(await at(path), text, (aside, target) =>
        link(aside, target).then(
          () => true,
          (error) => {
            if (isSystemError(error) && error.code === 'EEXIST') return false
            throw error
          },
        ),
      ),
    replace: async (path, content) => writeAside(await at(path), content, rename),
    async remove(paths) {
      for (const path of paths) rmSync(join(folder, insidePath(path)), { force: true })
    },
    now: async (path) =>
      writeAside(join(await at(path, true), 'now'), '', async (aside) =>
        Math.floor((await lstat(aside)).mtimeMs),
      ),
  }
}

async function describe(folder: string, entry: Dirent): Promise<[string, Stored] | undefined> {
  if (entry.isDirectory()) return [`${entry.name}/`, FOLDER]
  const stats = await unlessMissing(lstat(join(folder, entry.name)))
  if (stats === undefined) return undefined
  const { size, mtimeMs } = stats
  return [entry.name, { size: stats.isFile() ? size : -1, modified: mtimeMs }]
}

const unlessMissing = <Result>(found: Promise<Result>): Promise<Result | undefined> =>
  found.catch((error) => {
    if (isSystemError(error) && error.code === 'ENOENT') return undefined
    throw error
  })

/**
 * Writes a file as a whole under another name, which no engine reads, and then moves it. A write that is killed leaves it in
 * the folder of the table, as other files of a killed sync.
 */
async function writeAside<Result>(
  path: string,
  content: string | Uint8Array,
  move: (aside: string, path: string) => Promise<Result>,
): Promise<Result> {
  const aside = join(dirname(path).replace(/[\\/]_delta_log$/, ''), `.${newFile()}`)
  await makeFolder(dirname(path))
  try {
    await writeFile(aside, content)
    await flushToDisk(aside)
    return await move(aside, path)
  } finally {
    await rm(aside, { force: true })
    await flushFolder(dirname(path))
  }
}

/** Makes a folder and those around it. Node's own loops in a file system that takes no folders. */
async function makeFolder(path: string): Promise<void> {
  if (existsSync(path)) return
  const parent = dirname(path)
  if (parent !== path) await makeFolder(parent)
  await mkdir(path).catch((error) => {
    // Another process was faster.
    if (!existsSync(path)) throw error
  })
}

/** Returns when the content of a file would survive a power failure. For a directory, the flag is `r`. */
async function flushToDisk(path: string, flag = 'r+'): Promise<void> {
  const handle = await open(path, flag)
  await handle.sync().finally(() => handle.close())
}

// Windows opens no directories.
const flushFolder = async (path: string): Promise<void> =>
  process.platform === 'win32' ? undefined : flushToDisk(path, 'r')
