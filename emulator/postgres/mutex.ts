/** Lets one holder in at a time, in order of arrival. */
export interface Mutex {
  /** Resolves with the release function once the caller holds the mutex. */
  acquire(): Promise<() => void>
  hasWaiters(): boolean
}

/** Creates a free mutex. */
export function createMutex(): Mutex {
  let last = Promise.resolve()
  let waiters = 0
  return {
    acquire: () => {
      const previous = last
      waiters++
      return new Promise((resolve) => {
        last = new Promise((release) => {
          void previous.then(() => {
            waiters--
            resolve(release)
          })
        })
      })
    },
    hasWaiters: () => waiters > 0,
  }
}
