import { ByteWriter } from 'hyparquet-writer'
import { CommandError } from '../cli/errors.ts'
import { sha256 } from '../cli/hash.ts'
import { bufferOf, type Store, type Stored } from '../cli/store.ts'

/** Carries out a request, and returns its response. */
export type Exchange = <Response>(carryOut: () => Response) => Promise<Response>

/** A list has two pages. The second one begins here. */
const SECOND_PAGE = 'endpoint=t'

/** A bucket in memory. `open` returns a store of it, whose requests go through an exchange. */
export function memoryBucket() {
  const objects = new Map<string, { readonly bytes: Uint8Array; readonly version: string }>()
  let versions = 0
  const put = (path: string, bytes: Uint8Array): string => {
    versions += 1
    const version = String(versions)
    objects.set(path, { bytes, version })
    return version
  }
  const read = (path: string): Uint8Array => {
    const object = objects.get(path)
    if (object === undefined) throw new CommandError(`${path} is missing.`)
    return object.bytes
  }
  const readText = (path: string) => {
    const object = objects.get(path)
    return object && { text: Buffer.from(object.bytes).toString(), version: object.version }
  }
  const open = (exchange: Exchange, isResponseLost: () => boolean): Store => ({
    location: 'memory',
    isShared: true,
    async list() {
      const listed = new Map<string, Stored>()
      for (const isSecond of [false, true])
        await exchange(() => {
          for (const [path, { bytes, version }] of objects)
            if (path >= SECOND_PAGE === isSecond) listed.set(path, { size: bytes.byteLength, version })
        })
      return listed
    },
    open: (path) => exchange(() => bufferOf(read(path))),
    async create(path, write) {
      const writer = new ByteWriter()
      if ((await write(writer)) === 0) return undefined
      const bytes = new Uint8Array(writer.getBytes())
      const version = await exchange(() => {
        if (objects.has(path)) throw new TypeError(`${path} was used before.`)
        return put(path, bytes)
      })
      return { path, size: bytes.byteLength, version, sha256: sha256(bytes) }
    },
    readText: (path) => exchange(() => readText(path)),
    writeText: (path, text) => exchange(() => void put(path, Buffer.from(text))),
    async replaceText(path, text, version) {
      const replace = () =>
        exchange(() => {
          const isReplaced = objects.get(path)?.version === version
          if (isReplaced) put(path, Buffer.from(text))
          return isReplaced
        })
      const isReplaced = await replace()
      return isResponseLost() ? replace() : isReplaced
    },
    remove: async (paths) =>
      void (await Promise.all(paths.map((path) => exchange(() => objects.delete(path))))),
    exclusively: (work) => work(),
  })
  return { has: (path: string) => objects.has(path), read, readText, open }
}
