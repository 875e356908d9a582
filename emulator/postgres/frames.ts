/** The messages of Postgres's wire protocol that the embedded server itself has to know. */

const SSL_REQUEST = 80_877_103
const GSS_REQUEST = 80_877_104
const PROTOCOL_3 = 3

/** What a client opens its connection with. */
export type Opening =
  | { kind: 'encryption'; size: number }
  | { kind: 'startup'; size: number; database: string }
  | { kind: 'other' }

/** Reads the opening packet at the start of `bytes`; undefined when more is to come. */
export function readOpening(bytes: Buffer): Opening | undefined {
  if (bytes.length < 8) return undefined
  const size = bytes.readInt32BE(0)
  const code = bytes.readInt32BE(4)
  if (code === SSL_REQUEST || code === GSS_REQUEST) return { kind: 'encryption', size }
  if (code >> 16 !== PROTOCOL_3 || size > 10_000) return { kind: 'other' }
  if (bytes.length < size) return undefined
  const words = bytes.toString('utf8', 8, size).split('\0')
  const at = words.findIndex((word, i) => i % 2 === 0 && word === 'database')
  return { kind: 'startup', size, database: (at < 0 ? undefined : words[at + 1]) ?? '' }
}

/** What ends a run of messages that Postgres answers as a whole: Query, Sync, Flush; and Terminate. */
const ENDS_RUN = new Set(['Q', 'S', 'H', 'X'])

/** The length of the first whole run of messages in `bytes` and the type of its last one; undefined when more is to come. */
export function readRun(bytes: Buffer): { size: number; last: string } | undefined {
  for (let at = 0; at + 5 <= bytes.length; ) {
    const last = String.fromCharCode(bytes.readUInt8(at))
    at += 1 + bytes.readUInt32BE(at + 1)
    if (at <= bytes.length && ENDS_RUN.has(last)) return { size: at, last }
  }
  return undefined
}

/** Whether a run begins with a COPY whose rows the client would send. */
export function isCopyIn(messages: Buffer): boolean {
  return /^[QP][^;]*?\bcopy\s[^;]*\bfrom\s+stdin\b/is.test(messages.toString('latin1', 0, 500))
}

/** The server's FATAL answer before it hangs up. */
export function fatal(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`)
  const head = Buffer.from('E....')
  head.writeInt32BE(4 + fields.length, 1)
  return Buffer.concat([head, fields])
}

/** A simple query's message. */
export function query(sql: string): Buffer {
  const head = Buffer.from('Q....')
  head.writeInt32BE(4 + Buffer.byteLength(sql) + 1, 1)
  return Buffer.concat([head, Buffer.from(`${sql}\0`)])
}

/** Ends a run that its client left unfinished. */
export const SYNC = Buffer.from([0x53, 0, 0, 0, 4])

/** The startup packet of user and database "postgres". */
export function startup(): Buffer {
  const words = Buffer.from('....\0\x03\0\0user\0postgres\0database\0postgres\0\0', 'latin1')
  words.writeInt32BE(words.length, 0)
  return words
}
