/**
 * SQL for the nth draw, 0 to 1, out of a bytea of 16 hashed bytes (eight draws).
 *
 * Bytes of an md5 rather than random(): the same rows on every server, version and run. Two bytes are
 * fine enough for a percentage, and integer arithmetic rounds alike everywhere.
 */
export function draw(bytes: string, n: number): string {
  return `((get_byte(${bytes}, ${2 * n}) * 256 + get_byte(${bytes}, ${2 * n + 1})) / 65536::float8)`
}

/** SQL for a UUID that begins with the seconds of a time: rows that are stored together get ids side by side, which indexes take fastest. */
export function timedId(time: string, hash: string): string {
  return `(lpad(to_hex(floor(extract(epoch from ${time}))::bigint), 8, '0') || substr(${hash}, 9))::uuid`
}
