import {
  bucketOf,
  createS3,
  type Environment,
  type S3Bucket,
  S3Error,
  SettingError,
} from '../../connectors/typescript/cli/s3.ts'
import { UsageError } from '../../drizzle/db/connect.ts'
import { findRunning } from '../../emulator/running-service.ts'
import type { PublishOptions } from '../../lib/share/publish.ts'

/** The bucket of the share as a command reaches it. */
export type CommandBucket = PublishOptions['bucket'] & {
  readonly exists: (key: string) => Promise<boolean>
}

/**
 * Opens the bucket of `SHARE_BUCKET` by the S3 API, which R2 speaks; without it that of a running `npm start`. Does not repeat
 * `put` and `read`, which lib/share/write-object.ts does. Throws {@link UsageError} for a missing setting, without a service,
 * and when the bucket does not do as it is asked.
 */
export function openBucket(environment: Environment): CommandBucket {
  const { SHARE_BUCKET: name } = environment
  const bucket = name ? bucketOfSettings(name, environment) : runningBucket(environment)
  const remedy = name ? 'Check SHARE_BUCKET, AWS_ENDPOINT_URL_S3 and the API token.' : 'Run npm start again.'
  const fail = (error: unknown): never => {
    throw error instanceof S3Error ? new UsageError(`${error.message}\n${remedy}`) : error
  }
  const once = createS3(bucket, { retries: 0 })
  const send = createS3(bucket, { retries: name ? 5 : 0 })
  const expected = [404]
  return {
    put: (key, body) => once('PUT', key, { body }).catch(fail),
    delete: async (keys) => {
      for (const key of keys) await send('DELETE', key, { expected }).catch(fail)
    },
    exists: async (key) => (await send('HEAD', key, { expected }).catch(fail)).status !== 404,
    read: async (key) => {
      const { status, bytes } = await once('GET', key, { expected }).catch(fail)
      return status === 404 ? null : bytes
    },
  }
}

function bucketOfSettings(name: string, environment: Environment): S3Bucket {
  // The buckets of Workers are not in AWS.
  if (!environment.AWS_ENDPOINT_URL_S3)
    throw new UsageError('Set AWS_ENDPOINT_URL_S3, such as https://<account>.r2.cloudflarestorage.com.')
  try {
    return bucketOf(name, { ...environment, AWS_REGION: environment.AWS_REGION || 'auto' })
  } catch (error) {
    throw error instanceof SettingError ? new UsageError(error.message) : error
  }
}

/** Returns the bucket of the service that runs from this checkout, on `PORT` when it is set. */
function runningBucket({ PORT: port }: Environment): S3Bucket {
  const service = findRunning(port)
  if (service) return { ...service.bucket, region: 'auto' }
  throw new UsageError(
    `No service runs${port ? ` on port ${port}` : ''}. Run npm start first, or set SHARE_BUCKET.`,
  )
}
