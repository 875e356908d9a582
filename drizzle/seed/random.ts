/**
 * SQL for the nth of eight random numbers from 0 to 1 in a bytea of 16 hashed bytes.
 *
 * The bytes of an md5 give the same rows on every server and in every run, unlike random().
 */
export function randomFraction(bytes: string, n: number): string {
  return `((get_byte(${bytes}, ${2 * n}) * 256 + get_byte(${bytes}, ${2 * n + 1})) / 65536::float8)`
}

/** SQL for a UUID that starts with the seconds of a time, so that rows of the same time are adjacent in indexes. */
export function timeOrderedId(time: string, hash: string): string {
  return `(lpad(to_hex(floor(extract(epoch from ${time}))::bigint), 8, '0') || substr(${hash}, 9))::uuid`
}
