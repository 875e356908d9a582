import { randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { keptSecret } from '../../cli/local/private-file.ts'

/** The bucket of the share, as miniflare takes it. */
export type MiniflareBucket = {
  readonly id: string
  readonly s3Credentials: { readonly accessKeyId: string; readonly secretAccessKey: string }
}

/**
 * Returns the bucket in `folder`, or a new one in memory. miniflare serves its objects to every client that knows its
 * id, so the id is a secret. The credentials of the S3 API are new at each start.
 */
export function bucketIn(folder: string | undefined): MiniflareBucket {
  return {
    id: folder === undefined ? randomUUID() : keptId(folder),
    s3Credentials: { accessKeyId: randomUUID(), secretAccessKey: randomUUID() },
  }
}

/** Returns the id that names the objects in a folder. */
function keptId(folder: string): string {
  mkdirSync(folder, { recursive: true })
  // Its subfolders are named after the id.
  chmodSync(folder, 0o700)
  return keptSecret(join(folder, 'bucket-id'))
}
