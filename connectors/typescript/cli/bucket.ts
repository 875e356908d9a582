import { parseXml, XmlElement } from '@rgrove/parse-xml'
import { AwsClient } from 'aws4fetch'
import retry, { AbortError } from 'p-retry'
import { StoreError, UsageError } from './errors.ts'
import { sha256 } from './hash.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export type BucketRequest = {
  readonly body?: string | Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** Statuses that are no errors. */
  readonly expected?: readonly number[]
}

type BucketResponse = { readonly status: number; readonly etag: string; readonly bytes: Uint8Array }

/** Called when a request is sent again, with the reason. */
export type OnRetry = (reason: string) => void

const TIMEOUT_MS = 60_000
/** They take two to four minutes. */
const RETRIES = 9
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

/**
 * Returns a function that sends requests to a bucket. It retries lost connections, timeouts, 429 and 5xx, and throws
 * `StoreError` in the end. Throws `UsageError` for a malformed address or without credentials.
 */
export function createSender(bucketName: string, environment: Environment, onRetry: OnRetry) {
  const bucket = bucketUrl(bucketName, environment)
  const client = clientOf(environment)
  return (
    method: string,
    key: string,
    { body, headers, query, expected = [] }: BucketRequest = {},
  ): Promise<BucketResponse> => {
    const path = key.split('/').map(encodeURIComponent).join('/')
    const search = query === undefined ? '' : `?${new URLSearchParams(query)}`
    const attempt = async (): Promise<BucketResponse> => {
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
    return retry(attempt, {
      retries: RETRIES,
      minTimeout: 250,
      randomize: true,
      onFailedAttempt: ({ error, retriesLeft }) => {
        if (retriesLeft > 0) onRetry(error.message)
      },
    }).catch((cause) => {
      if (cause instanceof StoreError) throw cause
      const reason = cause.cause?.message || cause.message
      throw new StoreError(`${method} ${bucket}/${key}: ${reason}.`, { cause })
    })
  }
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

/** Returns the elements in another that have a name. */
export const childrenOf = (element: XmlElement | null, name: string): XmlElement[] =>
  (element?.children ?? []).filter(
    (child): child is XmlElement => child instanceof XmlElement && child.name === name,
  )

/** Returns the text of the first element in another that has a name; empty when there is none. */
export const textOf = (element: XmlElement | null, name: string): string =>
  childrenOf(element, name)[0]?.text ?? ''
