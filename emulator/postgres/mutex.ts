/** Lets one holder in at a time, in order of arrival. */
export interface Mutex {
  /** Resolves with the release function once the caller holds the mutex. */
  acquire(): Promise<() => void>
  hasWaiters(): boolean
}

/** Creates a free mutex. */
export function createMutex(): Mutex {
  let last: Promise<void> = Promise.resolve()
  let waiters = 0
  return {
    acquire: async () => {
      const previous = last
      const { promise, resolve: release } = Promise.withResolvers<void>()
      last = promise
      waiters++
      await previous
      waiters--
      return release
    },
    hasWaiters: () => waiters > 0,
  }
}
