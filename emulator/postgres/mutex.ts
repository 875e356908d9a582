/** A place in a queue of which one is served at a time, first come first served. */
export interface Mutex {
  /** Resolves when it is the caller's turn, with the function that ends it. */
  take(): Promise<() => void>
  /** Whether anyone waits. */
  wanted(): boolean
}

/** A queue that nobody is in. */
export function mutex(): Mutex {
  let last: Promise<void> = Promise.resolve()
  let waiting = 0
  return {
    take: async () => {
      const before = last
      const { promise, resolve } = Promise.withResolvers<void>()
      last = promise
      waiting++
      await before
      waiting--
      return resolve
    },
    wanted: () => waiting > 0,
  }
}
