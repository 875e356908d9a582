import { parseXml, type XmlElement } from '@rgrove/parse-xml'
import { ByteWriter } from 'hyparquet-writer'
import { bufferOf } from '../../../lib/share/parquet.ts'
import { CommandError, StoreError, UsageError } from './errors.ts'
import { sha256 } from './hash.ts'
import { inParallel } from './in-parallel.ts'
import {
  bucketOf,
  childrenOf,
  createS3,
  type Environment,
  S3Error,
  type S3Request,
  SettingError,
  textOf,
} from './s3.ts'
import { insidePath, type Store, type Stored } from './store.ts'

const PARALLEL = 16
/** Of 1000 objects each. */
const MOST_PAGES = 1000

/** A copy in a bucket with the protocol of S3. Throws `UsageError` for a malformed location or without credentials. */
export function objectStore(
  location: string,
  environment: Environment,
  onRetry: (reason: string) => void = () => {},
): Store {
  const { bucket, prefix } = parseLocation(location)
  const request = createS3(settingsOf(bucket, environment), { onRetry })
  /** By how many milliseconds the clock of the bucket is ahead. */
  let ahead = 0
  const send = async (method: string, path: string, options: S3Request = {}) => {
    const key = path === '' ? '' : prefix + insidePath(path)
    const response = await request(method, key, options).catch((cause) => {
      throw cause instanceof S3Error ? new StoreError(cause.message, { cause }) : cause
    })
    ahead = response.date - Date.now() || ahead
    return response
  }
  return {
    location: location.replace(/\/+$/, ''),
    async list(folder, after = '') {
      const listed = new Map<string, Stored>()
      const start = folder === '' ? prefix : `${prefix}${insidePath(folder)}/`
      let token = ''
      for (let pages = 0; pages < MOST_PAGES; pages += 1) {
        const query = {
          ...{ 'list-type': '2', delimiter: '/', prefix: start },
          ...(after !== '' && { 'start-after': start + after }),
          ...(token !== '' && { 'continuation-token': token }),
        }
        const page = parseList((await send('GET', '', { query })).bytes, location)
        for (const object of childrenOf(page, 'Contents'))
          listed.set(textOf(object, 'Key').slice(start.length), {
            size: Number(textOf(object, 'Size')),
            modified: Date.parse(textOf(object, 'LastModified')),
          })
        for (const folder of childrenOf(page, 'CommonPrefixes'))
          listed.set(textOf(folder, 'Prefix').slice(start.length), { size: -1, modified: 0 })
        token = textOf(page, 'NextContinuationToken')
        if (token === '') return listed
      }
      throw new StoreError(`The list of ${location} does not end. Check AWS_ENDPOINT_URL_S3.`)
    },
    async read(path) {
      const { status, bytes } = await send('GET', path, { expected: [404] })
      return status === 404 ? undefined : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    },
    async open(path) {
      const { status, bytes } = await send('GET', path, { expected: [404] })
      if (status === 404) throw new CommandError(`${location}/${path} is missing.`)
      return bufferOf(bytes)
    },
    async create(path, write) {
      const writer = new ByteWriter()
      await write(writer)
      const bytes = new Uint8Array(writer.getBytes())
      await send('PUT', path, { body: bytes })
      return { size: bytes.byteLength, sha256: sha256(bytes) }
    },
    async createIfAbsent(path, body) {
      const isCreated = async () => {
        // 409: another request is creating it.
        const expected = [409, 412]
        const { status } = await send('PUT', path, { body, headers: { 'If-None-Match': '*' }, expected })
        return status === 200
      }
      if (!(await isCreated())) return false
      if (!isFirst(path) || !(await isCreated())) return true
      await send('DELETE', path)
      throw new StoreError(`${location} ignores the conditions of writes, which a copy needs.`)
    },
    replace: async (path, body) => void (await send('PUT', path, { body })),
    async remove(paths) {
      await inParallel(paths, PARALLEL, (path) => send('DELETE', path, { expected: [404] }))
    },
    now: async () => Date.now() + ahead,
  }
}

/** Whether it is the first entry of a log: with it, a bucket is tested. */
const isFirst = (path: string): boolean => /\/0+\.json$/.test(path)

function settingsOf(bucket: string, environment: Environment) {
  try {
    return bucketOf(bucket, environment)
  } catch (cause) {
    if (cause instanceof SettingError) throw new UsageError(cause.message, { cause })
    throw cause
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
