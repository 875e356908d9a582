/** Clients that exceeded their budget, each until its next refill. */
export type Blocklist = {
  readonly isBlocked: (client: string, now: Date) => boolean
  /** Blocks a client until `end` (milliseconds since 1970). */
  readonly blockUntil: (client: string, end: number, now: Date) => void
}

/** Creates a blocklist of at most `capacity` clients. When it is full, it drops expired entries, or else all. */
export function createBlocklist(capacity: number): Blocklist {
  const ends = new Map<string, number>()
  return {
    isBlocked: (client, now) => (ends.get(client) ?? 0) > now.getTime(),
    blockUntil: (client, end, now) => {
      if (ends.size >= capacity) {
        for (const [each, expiry] of ends) if (expiry <= now.getTime()) ends.delete(each)
        if (ends.size >= capacity) ends.clear()
      }
      ends.set(client, end)
    },
  }
}
