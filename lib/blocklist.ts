/** Clients, each blocked until a time. */
export type Blocklist = {
  readonly isBlocked: (client: string, now: Date) => boolean
  /** Returns the time (milliseconds since 1970) until which a client is blocked; 0 when it never was. */
  readonly endOf: (client: string) => number
  /** Blocks a client until `end` (milliseconds since 1970). */
  readonly blockUntil: (client: string, end: number, now: Date) => void
}

/** Creates a blocklist of at most `capacity` clients. When it is full, it drops expired entries, or else all. */
export function createBlocklist(capacity: number): Blocklist {
  const ends = new Map<string, number>()
  const endOf = (client: string): number => ends.get(client) ?? 0
  return {
    endOf,
    isBlocked: (client, now) => endOf(client) > now.getTime(),
    blockUntil: (client, end, now) => {
      if (ends.size >= capacity) {
        for (const [each, expiry] of ends) if (expiry <= now.getTime()) ends.delete(each)
        if (ends.size >= capacity) ends.clear()
      }
      ends.set(client, end)
    },
  }
}
