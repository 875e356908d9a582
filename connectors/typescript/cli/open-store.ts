import { UsageError } from './errors.ts'
import { folderStore } from './folder-store.ts'
import { objectStore } from './object-store.ts'
import type { Progress } from './progress.ts'
import type { Store } from './store.ts'

/** Whether a copy is in a bucket. */
export const isBucket = (location: string): boolean => location.startsWith('s3://')

/** Opens where a copy is: a folder, or `s3://bucket/prefix`. Throws `UsageError` for a bucket without credentials. */
export function openStore(location: string, progress: Progress): Store {
  if (isBucket(location))
    return objectStore(location, process.env, (reason) =>
      progress.notice('wait', `The bucket does not answer: ${reason} Tries again.`, {}, 'warn'),
    )
  // One letter is a drive of Windows.
  if (/^[a-z0-9]{2,}:/i.test(location))
    throw new UsageError(`Use a folder or s3://bucket/prefix instead of ${location}.`)
  return folderStore(location)
}
