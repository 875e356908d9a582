import { serialize } from 'pg-protocol'

/** The part of Postgres's wire protocol that the embedded server parses and writes itself. */

const SSL_REQUEST = 80_877_103
const GSS_REQUEST = 80_877_104
const PROTOCOL_3 = 3
const HEAD_BYTES = 8
const MAX_STARTUP_BYTES = 10_000

/** The first message of a connection. */
export type FirstMessage =
  | { kind: 'encryption'; size: number }
  | { kind: 'startup'; size: number; database: string }
  | { kind: 'unknown' }

/** Reads the first message of a connection; undefined while it is incomplete. */
export function readFirstMessage(bytes: Buffer): FirstMessage | undefined {
  if (bytes.length < HEAD_BYTES) return undefined
  const size = bytes.readInt32BE(0)
  const code = bytes.readInt32BE(4)
  if (size < HEAD_BYTES || size > MAX_STARTUP_BYTES) return { kind: 'unknown' }
  if (code === SSL_REQUEST || code === GSS_REQUEST) return { kind: 'encryption', size: HEAD_BYTES }
  if (code >> 16 !== PROTOCOL_3) return { kind: 'unknown' }
  if (bytes.length < size) return undefined
  const words = bytes.toString('utf8', 8, size).split('\0')
  const index = words.findIndex((word, i) => i % 2 === 0 && word === 'database')
  return { kind: 'startup', size, database: (index < 0 ? undefined : words[index + 1]) ?? '' }
}

/** The types of messages of a client. PGlite would hang after another one. */
const TYPES = 'QPBEDCSHXFdcf'

/** Query, Sync, Flush and Terminate: Postgres answers all messages up to one of these together. */
const ENDS_BATCH = 'QSHX'

/** The length of the first complete batch of messages and the type of its last one; undefined while it is incomplete. */
export function readBatch(bytes: Buffer): { size: number; last: string } | 'unknown' | undefined {
  for (let offset = 0; offset + 5 <= bytes.length; ) {
    const last = String.fromCharCode(bytes.readUInt8(offset))
    const length = bytes.readUInt32BE(offset + 1)
    if (!TYPES.includes(last) || length < 4) return 'unknown'
    offset += 1 + length
    if (offset <= bytes.length && ENDS_BATCH.includes(last)) return { size: offset, last }
  }
  return undefined
}

/** Texts, quoted names and comments of SQL. */
const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$.*?\$\1\$|--[^\n]*|\/\*.*?\*\//gs

const ENDLESS_COPY = /^\s*copy\b.*\b(from\s+stdin|(from|to)\s+program)\b/is

/** Whether a statement of a batch is COPY FROM STDIN, or COPY and a program: PGlite would wait for either without end. */
export function isEndlessCopy(batch: Buffer): boolean {
  for (let offset = 0; offset < batch.length; offset += 1 + batch.readUInt32BE(offset + 1)) {
    const type = String.fromCharCode(batch.readUInt8(offset))
    if (type !== 'Q' && type !== 'P') continue
    // In a Parse message, the SQL comes after the name of the statement.
    const from = type === 'Q' ? offset + 5 : batch.indexOf(0, offset + 5) + 1
    const sql = batch.toString('utf8', from, batch.indexOf(0, from))
    const statements = /copy/i.test(sql) ? sql.replace(QUOTED, ' ').split(';') : []
    if (statements.some((statement) => ENDLESS_COPY.test(statement))) return true
  }
  return false
}

/** A FATAL error, after which the server closes the connection. */
export function fatalMessage(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`)
  const head = Buffer.from('E....')
  head.writeInt32BE(4 + fields.length, 1)
  return Buffer.concat([head, fields])
}

/** The startup message of user and database "postgres". */
export const startupMessage = (): Buffer => serialize.startup({ user: 'postgres', database: 'postgres' })
