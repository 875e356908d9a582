import { parseXml, type XmlElement } from '@rgrove/parse-xml'
import { ByteWriter } from 'hyparquet-writer'
import {
  type BucketRequest,
  childrenOf,
  createSender,
  type Environment,
  type OnRetry,
  textOf,
} from './bucket.ts'
import { CommandError, StoreError, UsageError } from './errors.ts'
import { sha256 } from './hash.ts'
import { isListed } from './paths.ts'
import { bufferOf, type Store, type Stored } from './store.ts'

const PARALLEL = 16

/** A copy in a bucket with the protocol of S3. Throws `UsageError` for a malformed location or without credentials. */
export function objectStore(location: string, environment: Environment, onRetry: OnRetry = () => {}): Store {
  const { bucket, prefix } = parseLocation(location)
  const send = createSender(bucket, environment, onRetry)
  const keyOf = (path: string): string => prefix + path
  const put = async (path: string, body: string | Uint8Array<ArrayBuffer>, request: BucketRequest = {}) => {
    const response = await send('PUT', keyOf(path), { ...request, body })
    if (response.status !== 200 || response.etag !== '') return response
    throw new StoreError(`${location}/${path}: the response has no ETag. Check AWS_ENDPOINT_URL_S3.`)
  }
  return {
    location: location.replace(/\/+$/, ''),
    isShared: true,
    async list() {
      const listed = new Map<string, Stored>()
      let token: string | undefined
      do {
        const query = {
          'list-type': '2',
          prefix,
          ...(token !== undefined && { 'continuation-token': token }),
        }
        const { bytes } = await send('GET', '', { query })
        const page = parseList(bytes, location)
        for (const object of childrenOf(page, 'Contents')) {
          const path = textOf(object, 'Key').slice(prefix.length)
          if (!isListed(path)) continue
          listed.set(path, { size: Number(textOf(object, 'Size')), version: textOf(object, 'ETag') })
        }
        token = textOf(page, 'NextContinuationToken') || undefined
      } while (token !== undefined)
      return listed
    },
    async open(path) {
      const { status, bytes } = await send('GET', keyOf(path), { expected: [404] })
      if (status === 404) throw new CommandError(`${location}/${path} is missing.`)
      return bufferOf(bytes)
    },
    async create(path, write) {
      const writer = new ByteWriter()
      if ((await write(writer)) === 0) return undefined
      const bytes = new Uint8Array(writer.getBytes())
      const { etag } = await put(path, bytes)
      return { path, size: bytes.byteLength, version: etag, sha256: sha256(bytes) }
    },
    async readText(path) {
      const { status, bytes, etag } = await send('GET', keyOf(path), { expected: [404] })
      return status === 404 ? undefined : { text: Buffer.from(bytes).toString(), version: etag }
    },
    writeText: async (path, text) => void (await put(path, text)),
    async replaceText(path, text, version) {
      const isPut = async (headers: Readonly<Record<string, string>>) => {
        // 404: it was deleted. 409: another request is replacing it.
        const { status } = await put(path, text, { headers, expected: [404, 409, 412] })
        return status === 200
      }
      if (version !== undefined) return isPut({ 'If-Match': version })
      const none = { 'If-None-Match': '*' }
      if (!(await isPut(none))) return false
      if (!(await isPut(none)) && !(await isPut({ 'If-Match': '"0"' }))) return true
      await send('DELETE', keyOf(path))
      throw new StoreError(`${location} ignores the conditions of writes, which a copy needs.`)
    },
    async remove(paths) {
      const left = [...paths]
      const worker = async () => {
        for (let path = left.pop(); path !== undefined; path = left.pop())
          await send('DELETE', keyOf(path), { expected: [404] })
      }
      await Promise.all(Array.from({ length: PARALLEL }, worker))
    },
    // Of two syncs, one replaces the manifest.
    exclusively: (work) => work(),
  }
}

function parseLocation(location: string) {
  const [, bucket, prefix = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]+[a-z0-9])(?:\/(.*))?$/.exec(location) ?? []
  if (bucket === undefined) throw new UsageError(`Use s3://bucket/prefix instead of ${location}.`)
  const folder = prefix.replace(/\/+$/, '')
  if (folder !== '' && folder.split('/').some((name) => /^\.{0,2}$/.test(name)))
    throw new UsageError(`A part of the prefix is empty or has dots only: ${location}.`)
  return { bucket, prefix: folder === '' ? '' : `${folder}/` }
}

/** Returns the root of a list of objects. */
function parseList(bytes: Uint8Array, location: string): XmlElement {
  try {
    const { root } = parseXml(Buffer.from(bytes).toString())
    if (root?.name === 'ListBucketResult') return root
  } catch {}
  throw new StoreError(`The list of ${location} is none of the S3 protocol. Check AWS_ENDPOINT_URL_S3.`)
}
