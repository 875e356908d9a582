import { randomUUID } from 'node:crypto'
import { type Dirent, existsSync } from 'node:fs'
import { link, lstat, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { asyncBufferFromFile } from 'hyparquet'
import { fileWriter } from 'hyparquet-writer'
import { CommandError, isSystemError } from './errors.ts'
import { sha256OfFile } from './hash.ts'
import { insidePath, type Store, type Stored } from './store.ts'

const FOLDER: Stored = { size: -1, modified: 0 }

/** A copy in a folder. */
export function folderStore(folder: string): Store {
  const at = (path: string): string => (path === '' ? folder : join(folder, insidePath(path)))
  return {
    location: folder,
    async list(path, after = '') {
      const entries = (await unlessMissing(readdir(at(path), { withFileTypes: true }))) ?? []
      const later = entries.filter(({ name }) => name > after)
      const described = await Promise.all(later.map((entry) => describe(at(path), entry)))
      return new Map(described.filter((entry) => entry !== undefined))
    },
    read: (path) => unlessMissing(readFile(at(path))),
    async open(path) {
      if (existsSync(at(path))) return asyncBufferFromFile(at(path))
      throw new CommandError(`${at(path)} is missing.`)
    },
    async create(path, write) {
      await makeFolder(dirname(at(path)))
      try {
        await write(fileWriter(at(path)))
        await flushToDisk(at(path))
      } catch (error) {
        await rm(at(path), { force: true })
        throw error
      }
      await flushFolder(dirname(at(path)))
      const file = await asyncBufferFromFile(at(path))
      return { size: file.byteLength, sha256: await sha256OfFile(file) }
    },
    // Unlike a rename, a link does not replace a file.
    createIfAbsent: (path, text) =>
      writeAside(at(path), text, (aside) =>
        link(aside, at(path)).then(
          () => true,
          (error) => {
            if (isSystemError(error) && error.code === 'EEXIST') return false
            throw error
          },
        ),
      ),
    replace: (path, content) => writeAside(at(path), content, (aside) => rename(aside, at(path))),
    async remove(paths) {
      for (const path of paths) await rm(at(path), { force: true })
    },
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

/** Writes a file as a whole under another name, which no engine reads, and then moves it. */
async function writeAside<Result>(
  path: string,
  content: string | Uint8Array,
  move: (aside: string) => Promise<Result>,
): Promise<Result> {
  const aside = join(dirname(path), `.${basename(path)}.${randomUUID()}`)
  await makeFolder(dirname(path))
  try {
    await writeFile(aside, content)
    await flushToDisk(aside)
    return await move(aside)
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
