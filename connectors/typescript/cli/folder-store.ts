import { existsSync, type Stats } from 'node:fs'
import { lstat, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { asyncBufferFromFile } from 'hyparquet'
import { fileWriter } from 'hyparquet-writer'
import { CommandError } from './errors.ts'
import { removeUnfinished, replaceFile } from './folder.ts'
import { removeOldLocks, withLock } from './lock.ts'
import { type Store, type Stored, sha256 } from './store.ts'

/** A copy in a folder. */
export function folderStore(folder: string): Store {
  const at = (path: string): string => join(folder, path)
  return {
    location: folder,
    isShared: false,
    async list() {
      const listed = new Map<string, Stored>()
      for (const name of await readNames(folder)) {
        const path = name.split(sep).join('/')
        if (!isListed(path)) continue
        const stats = await lstat(at(path))
        listed.set(path, stats.isFile() ? describe(stats) : { size: -1, version: '' })
      }
      return listed
    },
    open: (path) => asyncBufferFromFile(at(path)),
    async create(path, write) {
      let rows = 0
      await replaceFile(at(path), async (unfinished) => {
        rows = await write(fileWriter(unfinished))
        return rows > 0
      })
      if (rows === 0) return undefined
      const stored = describe(await stat(at(path)))
      return { path, ...stored, sha256: await sha256(await asyncBufferFromFile(at(path))) }
    },
    async readText(path) {
      if (!existsSync(at(path))) return undefined
      const text = await readFile(at(path), 'utf8').catch((cause) => {
        throw new CommandError(`${at(path)} cannot be read: ${cause.message}.`, { cause })
      })
      return { text, version: '' }
    },
    writeText: (path, text) => writeText(at(path), text),
    async replaceText(path, text) {
      // The lock keeps others away.
      await writeText(at(path), text)
      return true
    },
    async remove(paths) {
      for (const path of paths) await rm(at(path), { recursive: true, force: true })
    },
    exclusively: (work) =>
      withLock(folder, async () => {
        await removeUnfinished(folder)
        await removeOldLocks(folder)
        return work()
      }),
  }
}

const readNames = (folder: string): Promise<string[]> =>
  existsSync(folder) ? readdir(folder, { recursive: true }) : Promise.resolve([])

/** Whether readers may take it for a Parquet file, or it is a state. */
const isListed = (path: string): boolean => /\.parquet$/i.test(path) || /^_state\/.*\.json$/.test(path)

const describe = ({ size, mtimeMs }: Stats) => ({ size, version: String(mtimeMs) })

const writeText = (path: string, text: string): Promise<void> =>
  replaceFile(path, async (unfinished) => {
    await writeFile(unfinished, text)
    return true
  })
