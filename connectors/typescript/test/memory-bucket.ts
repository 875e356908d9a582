import { ByteWriter } from 'hyparquet-writer'
import { bufferOf } from '../../../lib/share/parquet.ts'
import { CommandError } from '../cli/errors.ts'
import { sha256 } from '../cli/hash.ts'
import type { Store, Stored } from '../cli/store.ts'

/** Carries out a request, and returns its response. */
export type Exchange = <Response>(carryOut: () => Response) => Promise<Response>

/** A bucket in memory. `open` returns a store of it, whose requests go through an exchange. */
export function memoryBucket() {
  const objects = new Map<string, { readonly bytes: Uint8Array<ArrayBuffer>; readonly stored: Stored }>()
  const put = (path: string, content: string | Uint8Array): Stored => {
    const bytes = new Uint8Array(Buffer.from(content))
    const stored = { size: bytes.byteLength, modified: Date.now() }
    objects.set(path, { bytes, stored })
    return stored
  }
  const bytesOf = (path: string) => {
    const object = objects.get(path)
    if (object === undefined) throw new CommandError(`${path} is missing.`)
    return object.bytes
  }
  const list = (folder: string, after: string) => {
    const listed = new Map<string, Stored>()
    for (const [path, { stored }] of objects) {
      const start = folder === '' ? '' : `${folder}/`
      const name = path.slice(start.length)
      if (path.startsWith(start) && !name.includes('/') && name > after) listed.set(name, stored)
    }
    return listed
  }
  const open = (
    exchange: Exchange = async (carryOut) => carryOut(),
    isResponseLost = () => false,
  ): Store => ({
    location: 'memory',
    list: (folder, after = '') => exchange(() => list(folder, after)),
    read: (path) => exchange(() => (objects.has(path) ? Buffer.from(bytesOf(path)) : undefined)),
    open: (path) => exchange(() => bufferOf(bytesOf(path))),
    async create(path, write) {
      const writer = new ByteWriter()
      await write(writer)
      const bytes = new Uint8Array(writer.getBytes())
      const { size } = await exchange(() => {
        if (objects.has(path)) throw new TypeError(`${path} was used before.`)
        return put(path, bytes)
      })
      return { size, sha256: sha256(bytes) }
    },
    async createIfAbsent(path, text) {
      const create = () => exchange(() => !objects.has(path) && put(path, text) !== undefined)
      const isCreated = await create()
      return isResponseLost() ? create() : isCreated
    },
    replace: (path, content) => exchange(() => void put(path, content)),
    remove: async (paths) =>
      void (await Promise.all(paths.map((path) => exchange(() => objects.delete(path))))),
    now: async () => Date.now(),
  })
  const has = (path: string) => objects.has(path)
  const remove = (path: string) => objects.delete(path)
  const names = () => [...objects.keys()]
  return { has, names, bytesOf, put, remove, open }
}
