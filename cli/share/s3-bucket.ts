import { createHash } from 'node:crypto'
import { AwsClient } from 'aws4fetch'
import retry, { AbortError } from 'p-retry'
import { UsageError } from '../../drizzle/db/connect.ts'
import { type BucketAccess, findRunning } from '../../emulator/running.ts'
import type { PublishOptions } from '../../lib/share/publish.ts'

/** The bucket of the share as a command reaches it. */
export type CommandBucket = PublishOptions['bucket'] & {
  readonly exists: (key: string) => Promise<boolean>
}

type Environment = Readonly<Record<string, string | undefined>>

const TIMEOUT_MS = 60_000
const RETRIES = 5

/**
 * Opens the bucket of `SHARE_BUCKET` by the S3 API, which R2 speaks; without it that of a running `npm start`.
 * Throws {@link UsageError} for a missing setting, without a service, and when the bucket cannot be reached.
 */
export function openBucket(environment: Environment): CommandBucket {
  const { url, ...account } = addressOf(environment)
  const client = new AwsClient({ ...account, service: 's3', retries: 0 })
  const retries = environment.SHARE_BUCKET ? RETRIES : 0
  const send = (method: string, key: string, body?: Uint8Array<ArrayBuffer>): Promise<Response> => {
    const attempt = async () => {
      const response = await client.fetch(`${url}/${key}`, {
        method,
        ...(body && { body }),
        headers: {
          'X-Amz-Content-Sha256': createHash('sha256')
            .update(body ?? '')
            .digest('hex'),
        },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      if (response.ok || response.status === 404) return response
      const error = new UsageError(`The bucket answered ${method} with ${response.status}.`)
      throw response.status === 429 || response.status >= 500 ? error : new AbortError(error)
    }
    return retry(attempt, { retries, minTimeout: 250, randomize: true }).catch((cause) => {
      if (cause instanceof UsageError) throw cause
      throw new UsageError(`Cannot reach the bucket at ${url}: ${cause.cause?.message ?? cause.message}.`)
    })
  }
  return {
    put: async (key, bytes) => {
      if ((await send('PUT', key, bytes)).status === 404)
        throw new UsageError(`There is no bucket at ${url}.`)
    },
    delete: async (keys) => {
      for (const key of keys) await send('DELETE', key)
    },
    exists: async (key) => (await send('HEAD', key)).ok,
    read: async (key) => {
      const response = await send('GET', key)
      return response.ok ? new Uint8Array(await response.arrayBuffer()) : null
    },
  }
}

function addressOf(environment: Environment): BucketAccess & { readonly region: string } {
  const { SHARE_BUCKET: name, AWS_ENDPOINT_URL_S3: endpoint = '' } = environment
  if (!name) return { ...runningBucket(environment), region: 'auto' }
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_REGION } = environment
  if (!/^https?:\/\/./.test(endpoint))
    throw new UsageError('Set AWS_ENDPOINT_URL_S3, such as https://<account>.r2.cloudflarestorage.com.')
  if (!accessKeyId || !secretAccessKey)
    throw new UsageError('Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, those of an R2 API token.')
  const url = `${endpoint.replace(/\/+$/, '')}/${name}`
  return { url, accessKeyId, secretAccessKey, region: AWS_REGION || 'auto' }
}

/** Returns the bucket of the service that runs from this checkout, on `PORT` when it is set. */
function runningBucket({ PORT: port }: Environment): BucketAccess {
  const service = findRunning(port)
  if (service) return service.bucket
  throw new UsageError(
    `No service runs${port ? ` on port ${port}` : ''}. Run npm start first, or set SHARE_BUCKET.`,
  )
}
