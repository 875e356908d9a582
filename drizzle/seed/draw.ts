/**
 * SQL for the nth draw, 0 to 1, out of a bytea of 16 hashed bytes (eight draws).
 *
 * Bytes of an md5 rather than random(): the same rows on every server, version and run. Two bytes are
 * fine enough for a percentage, and integer arithmetic rounds alike everywhere.
 */
export function draw(bytes: string, n: number): string {
  return `((get_byte(${bytes}, ${2 * n}) * 256 + get_byte(${bytes}, ${2 * n + 1})) / 65536::float8)`
}
