import { type SQL, sql } from 'drizzle-orm'

/** SQL aggregate of brand ids: the XOR of the first 60 bits of the MD5 of each, as 15 hex digits; zeros for none. */
export const brandsDigest = (id: SQL): SQL =>
  sql`lpad(to_hex(coalesce(bit_xor(('x' || left(md5(${id}::text), 15))::bit(60)::bigint), 0)), 15, '0')`
