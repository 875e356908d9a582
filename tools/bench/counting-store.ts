import { setTimeout as delay } from 'node:timers/promises'
import { ByteWriter } from 'hyparquet-writer'
import { CommandError } from '../../connectors/typescript/cli/errors.ts'
import { sha256 } from '../../connectors/typescript/cli/hash.ts'
import type { Store, Stored } from '../../connectors/typescript/cli/store.ts'
import { bufferOf } from '../../lib/parquet.ts'

/** Objects of a page of S3's list. */
const PAGE = 1000

/** A bucket in memory that counts its requests. `state.ms` is how long it takes to answer one. */
export function countingStore() {
  const folders = new Map<string, Map<string, { readonly bytes: Uint8Array; readonly stored: Stored }>>()
  const state = { requests: 0, lists: 0, entries: 0, ms: 0 }
  const answered = async (requests = 1) => {
    state.requests += requests
    if (state.ms > 0) await delay(requests * state.ms)
  }
  const folderOf = (path: string) => {
    const folder = path.slice(0, path.lastIndexOf('/'))
    const files = folders.get(folder) ?? new Map()
    folders.set(folder, files)
    return { files, name: path.slice(folder.length + 1) }
  }
  const find = (path: string): Uint8Array | undefined => {
    if (path.endsWith('.json')) state.entries += 1
    const { files, name } = folderOf(path)
    return files.get(name)?.bytes
  }
  const put = (path: string, content: string | Uint8Array): Stored => {
    const { files, name } = folderOf(path)
    const stored = { size: Buffer.byteLength(content), version: path, modified: Date.now() }
    files.set(name, { bytes: new Uint8Array(Buffer.from(content)), stored })
    return stored
  }
  const store: Store = {
    location: 'memory',
    async list(folder, after = '') {
      const found = [...(folders.get(folder) ?? [])].filter(([name]) => name > after)
      const pages = Math.max(1, Math.ceil(found.length / PAGE))
      state.lists += pages
      await answered(pages)
      return new Map(found.map(([name, { stored }]) => [name, stored]))
    },
    async read(path) {
      await answered()
      const bytes = find(path)
      return bytes && Buffer.from(bytes)
    },
    async open(path) {
      await answered()
      const bytes = find(path)
      if (bytes === undefined) throw new CommandError(`${path} is missing.`)
      return bufferOf(bytes)
    },
    async create(path, write) {
      const writer = new ByteWriter()
      await write(writer)
      const bytes = new Uint8Array(writer.getBytes())
      return { ...put(path, bytes), sha256: sha256(bytes) }
    },
    async createIfAbsent(path, text) {
      const { files, name } = folderOf(path)
      if (files.has(name)) return false
      put(path, text)
      return true
    },
    async replace(path, content) {
      put(path, content)
    },
    async remove(paths) {
      for (const path of paths) {
        const { files, name } = folderOf(path)
        files.delete(name)
      }
    },
  }
  return { store, state }
}
