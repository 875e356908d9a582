import { parseXml, XmlElement } from '@rgrove/parse-xml'
import { AwsClient } from 'aws4fetch'
import retry, { AbortError } from 'p-retry'
import { sha256 } from './hash.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** A bucket, and what signs its requests. */
export type S3Bucket = {
  /** Without a trailing slash. */
  readonly url: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
  readonly region: string
}

export type S3Request = {
  readonly body?: string | Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** Statuses that are no errors. */
  readonly expected?: readonly number[]
}

export type S3Response = {
  readonly status: number
  readonly bytes: Uint8Array<ArrayBuffer>
  /** When the bucket sent it, in milliseconds since 1970; NaN when it does not say so. */
  readonly date: number
}

/** A request that failed: its method and URL, with the response's status and words or why there is no response. */
export class S3Error extends Error {
  override name = 'S3Error'
}

/** A variable is missing or malformed. The message says what to set. */
export class SettingError extends Error {
  override name = 'SettingError'
}

const TIMEOUT_MS = 60_000
/** A list of 1000 objects has less than 1 MiB. A log entry of a copy can have the days of all its brands. */
const MOST_LIST_MIB = 64
const MOST_OBJECT_MIB = 1024
/** They take two to four minutes. */
const RETRIES = 9

/** Returns a bucket by the variables of AWS. Throws {@link SettingError} for a malformed address or without credentials. */
export function bucketOf(name: string, environment: Environment): S3Bucket {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = environment
  const region = environment.AWS_REGION || environment.AWS_DEFAULT_REGION || 'us-east-1'
  const url = urlOf(name, region, environment)
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY)
    throw new SettingError(
      'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN if you have one.',
    )
  return {
    url,
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
    region,
  }
}

function urlOf(name: string, region: string, environment: Environment): string {
  const endpoint = environment.AWS_ENDPOINT_URL_S3 || environment.AWS_ENDPOINT_URL
  if (endpoint && !/^https?:\/\/./.test(endpoint))
    throw new SettingError('AWS_ENDPOINT_URL_S3 must begin with https:// or http://.')
  if (endpoint) return `${endpoint.replace(/\/+$/, '')}/${name}`
  // A certificate of *.s3.… does not have names with dots.
  const host = `s3.${region}.amazonaws.com`
  return name.includes('.') ? `https://${host}/${name}` : `https://${name}.${host}`
}

type Options = {
  readonly retries?: number
  /** Called when a request is sent again, with the reason. */
  readonly onRetry?: (reason: string) => void
}

/**
 * Returns a function that sends requests to a bucket. It retries lost connections, timeouts, 429 and 5xx, and throws
 * {@link S3Error} in the end.
 */
export function createS3({ url, ...account }: S3Bucket, { retries = RETRIES, onRetry }: Options = {}) {
  const client = new AwsClient({ ...account, service: 's3', retries: 0 })
  return (
    method: string,
    key: string,
    { body, headers, query, expected = [] }: S3Request = {},
  ): Promise<S3Response> => {
    const path = key.split('/').map(encodeURIComponent).join('/')
    const search = query === undefined ? '' : `?${new URLSearchParams(query)}`
    const attempt = async (): Promise<S3Response> => {
      const response = await client.fetch(`${url}/${path}${search}`, {
        method,
        ...(body !== undefined && { body }),
        headers: { ...headers, 'X-Amz-Content-Sha256': sha256(body ?? '') },
        // Another host must not get the token of a session.
        redirect: 'manual',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      const { status } = response
      const most = key === '' ? MOST_LIST_MIB : MOST_OBJECT_MIB
      const bytes = await bytesOf(response, most * 2 ** 20)
      if (bytes === undefined)
        throw new AbortError(new S3Error(`${method} ${url}/${key}: The response has more than ${most} MiB.`))
      const date = Date.parse(response.headers.get('Date') ?? '')
      if (response.ok || expected.includes(status)) return { status, bytes, date }
      const error = new S3Error(`${method} ${url}/${key}: ${describe(status, bytes)}`)
      throw status === 429 || status >= 500 ? error : new AbortError(error)
    }
    return retry(attempt, {
      retries,
      minTimeout: 250,
      randomize: true,
      onFailedAttempt: ({ error, retriesLeft }) => {
        if (retriesLeft > 0) onRetry?.(error.message)
      },
    }).catch((cause) => {
      if (cause instanceof S3Error) throw cause
      const reason = cause.cause?.message || cause.message
      throw new S3Error(`${method} ${url}/${key}: ${reason}.`, { cause })
    })
  }
}

/** Returns the body of a response; undefined when it is larger. */
async function bytesOf({ body }: Response, mostBytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.byteLength
    if (size > mostBytes) return undefined
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}

/** Returns what a response says about an error. */
function describe(status: number, bytes: Uint8Array): string {
  if (status >= 300 && status < 400) return `${status}. Check AWS_REGION and AWS_ENDPOINT_URL_S3.`
  try {
    const { root } = parseXml(Buffer.from(bytes).toString())
    const code = textOf(root, 'Code')
    if (code !== '') return `${status} ${code}. ${textOf(root, 'Message')}`
  } catch {}
  return `${status}.`
}

/** Returns the elements in another that have a name. */
export const childrenOf = (element: XmlElement | null, name: string): XmlElement[] =>
  (element?.children ?? []).filter(
    (child): child is XmlElement => child instanceof XmlElement && child.name === name,
  )

/** Returns the text of the first element in another that has a name; empty when there is none. */
export const textOf = (element: XmlElement | null, name: string): string =>
  childrenOf(element, name)[0]?.text ?? ''
