/** Callers that were refused, each until its minute ends. */
export type Blocklist = {
  /** Whether a caller was refused, and its minute goes on. */
  readonly has: (caller: string, now: Date) => boolean
  /** Remembers a caller until `end` (ms). */
  readonly add: (caller: string, end: number, now: Date) => void
}

/** Remembers `most` callers: when there are more, it forgets those whose minute is over, and all if there are none. */
export function createBlocklist(most: number): Blocklist {
  const ends = new Map<string, number>()
  return {
    has: (caller, now) => (ends.get(caller) ?? 0) > now.getTime(),
    add: (caller, end, now) => {
      if (ends.size >= most) {
        for (const [each, its] of ends) if (its <= now.getTime()) ends.delete(each)
        if (ends.size >= most) ends.clear()
      }
      ends.set(caller, end)
    },
  }
}
