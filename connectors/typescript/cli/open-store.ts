import { folderStore } from './folder-store.ts'
import { objectStore } from './object-store.ts'
import type { Store } from './store.ts'

/** Whether a copy is in a bucket. */
export const isBucket = (location: string): boolean => location.startsWith('s3://')

/** Opens where a copy is: a folder, or `s3://bucket/prefix`. Throws `UsageError` for a bucket without credentials. */
export const openStore = (location: string): Store =>
  isBucket(location) ? objectStore(location, process.env) : folderStore(location)
