import { createHash } from 'node:crypto'
import { parseXml, XmlElement } from '@rgrove/parse-xml'
import { AwsClient } from 'aws4fetch'
import { ByteWriter } from 'hyparquet-writer'
import retry, { AbortError } from 'p-retry'
import { CommandError, StoreError, UsageError } from './errors.ts'
import { isListed } from './paths.ts'
import { bufferOf, type Store, type Stored } from './store.ts'

type Environment = Readonly<Record<string, string | undefined>>

type Request = {
  readonly body?: string | Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** Statuses that are no errors. */
  readonly expected?: readonly number[]
}

type ObjectResponse = { readonly status: number; readonly etag: string; readonly bytes: Uint8Array }

/** Called when a request is sent again, with the reason. */
export type OnRetry = (reason: string) => void

const TIMEOUT_MS = 60_000
/** They take two to four minutes. */
const RETRIES = 9
const PARALLEL = 16

/** A copy in a bucket with the protocol of S3. Throws `UsageError` for a malformed location or without credentials. */
export function objectStore(location: string, environment: Environment, onRetry: OnRetry = () => {}): Store {
  const { bucket, prefix } = parseLocation(location)
  const send = createSender(bucketUrl(bucket, environment), clientOf(environment), onRetry)
  const keyOf = (path: string): string => prefix + path
  const put = async (path: string, body: string | Uint8Array<ArrayBuffer>, request: Request = {}) => {
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

function bucketUrl(bucket: string, environment: Environment): string {
  const endpoint = environment.AWS_ENDPOINT_URL_S3 || environment.AWS_ENDPOINT_URL
  if (endpoint && !/^https?:\/\/./.test(endpoint))
    throw new UsageError(`AWS_ENDPOINT_URL_S3 must begin with https:// or http://.`)
  if (endpoint) return `${endpoint.replace(/\/+$/, '')}/${bucket}`
  // A certificate of *.s3.… does not have names with dots.
  const host = `s3.${regionOf(environment)}.amazonaws.com`
  return bucket.includes('.') ? `https://${host}/${bucket}` : `https://${bucket}.${host}`
}

const regionOf = (environment: Environment): string =>
  environment.AWS_REGION || environment.AWS_DEFAULT_REGION || 'us-east-1'

function clientOf(environment: Environment): AwsClient {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = environment
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY)
    throw new UsageError(
      'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN if you have one.',
    )
  return new AwsClient({
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
    service: 's3',
    region: regionOf(environment),
    retries: 0,
  })
}

/** Returns a function that sends requests to a bucket. It retries lost connections, timeouts, 429 and 5xx. */
const createSender =
  (bucket: string, client: AwsClient, onRetry: OnRetry) =>
  (
    method: string,
    key: string,
    { body, headers, query, expected = [] }: Request = {},
  ): Promise<ObjectResponse> => {
    const path = key.split('/').map(encodeURIComponent).join('/')
    const search = query === undefined ? '' : `?${new URLSearchParams(query)}`
    const attempt = async (): Promise<ObjectResponse> => {
      const response = await client.fetch(`${bucket}/${path}${search}`, {
        method,
        ...(body !== undefined && { body }),
        headers: { ...headers, 'X-Amz-Content-Sha256': sha256(body ?? '') },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      const { status } = response
      const bytes = new Uint8Array(await response.arrayBuffer())
      if (response.ok || expected.includes(status))
        return { status, bytes, etag: response.headers.get('ETag') ?? '' }
      const error = new StoreError(`${method} ${bucket}/${key}: ${describe(status, bytes)}`)
      throw status === 429 || status >= 500 ? error : new AbortError(error)
    }
    const options = { retries: RETRIES, minTimeout: 250, randomize: true }
    return retry(attempt, {
      ...options,
      onFailedAttempt: ({ error, retriesLeft }) => {
        if (retriesLeft > 0) onRetry(error.message)
      },
    }).catch((cause) => {
      if (cause instanceof StoreError) throw cause
      const reason = cause.cause?.message || cause.message
      throw new StoreError(`${method} ${bucket}/${key}: ${reason}.`, { cause })
    })
  }

/** Returns the root of a list of objects. */
function parseList(bytes: Uint8Array, location: string): XmlElement {
  try {
    const { root } = parseXml(Buffer.from(bytes).toString())
    if (root?.name === 'ListBucketResult') return root
  } catch {}
  throw new StoreError(`The list of ${location} is none of the S3 protocol. Check AWS_ENDPOINT_URL_S3.`)
}

/** Returns what a response says about an error. */
function describe(status: number, bytes: Uint8Array): string {
  try {
    const { root } = parseXml(Buffer.from(bytes).toString())
    return `${status} ${textOf(root, 'Code')}. ${textOf(root, 'Message')}`
  } catch {
    return `${status}.`
  }
}

const childrenOf = (element: XmlElement | null, name: string): XmlElement[] =>
  (element?.children ?? []).filter(
    (child): child is XmlElement => child instanceof XmlElement && child.name === name,
  )

const textOf = (element: XmlElement | null, name: string): string => childrenOf(element, name)[0]?.text ?? ''

const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')
