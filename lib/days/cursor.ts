import { decodeBase64Url, encodeBase64Url } from 'hono/utils/encode'
import { sha256Bytes } from '../request/hash.ts'

/** The request that a cursor belongs to. */
export type DaysBinding = {
  readonly endpoint?: string | undefined
  readonly brandId?: string | undefined
  readonly fromDate?: string | undefined
}

/**
 * Where a reader is (docs/architecture.md, Why nothing is missed). Days are `YYYY-MM-DD`, and times those of `changed_at`. An
 * empty text stands for what there is not.
 */
export type Position = {
  readonly organization: string
  /** Identifies the key's own list of brands. */
  readonly list: string
  /** The reader has all changes until this time, of days from `had` on. */
  readonly since: string
  readonly had: string
  /** `since` and `had` of the next run, the time at which this run began; empty between runs. */
  readonly until: string
  readonly reach: string
  readonly began: string
  /** The last day that was sent. */
  readonly brand: string
  readonly changed_at: string
  readonly endpoint: string
  readonly date: string
  /** Of a day of which only a part was sent: the number of the rows sent, and the key of the last one as a JSON array. */
  readonly offset: string
  readonly key: string
}

export const NIL_UUID = '00000000-0000-0000-0000-000000000000'

/** Before all days. */
export const START: Position = {
  organization: '',
  list: '',
  since: '',
  had: '',
  until: '',
  reach: '',
  began: '',
  brand: NIL_UUID,
  changed_at: '',
  endpoint: '',
  date: '-infinity',
  offset: '0',
  key: '[]',
}

const NAMES = Object.keys(START)

/** Counts the formats of cursors. A run with a cursor of another format starts again. */
const FORMAT = 1

const CHECKSUM_BYTES = 8

/** Returns a cursor: letters, digits, `-` and `_`, of which the first is a letter. */
export async function writeCursor(position: Position, binding: DaysBinding): Promise<string> {
  const payload = new TextEncoder().encode(
    JSON.stringify([FORMAT, ...Object.values({ ...START, ...position })]),
  )
  return encode(new Uint8Array([...(await checksum(payload, binding)), ...payload]))
}

/** Returns a cursor's position; null when it was altered or belongs to another request. It is checked, not signed: it grants nothing. */
export async function readCursor(cursor: string, binding: DaysBinding): Promise<Position | null> {
  const bytes = decode(cursor)
  if (bytes === null) return null
  const payload = bytes.slice(CHECKSUM_BYTES)
  const expected = await checksum(payload, binding)
  if (!expected.every((byte, index) => byte === bytes[index])) return null
  const [format, ...values] = JSON.parse(new TextDecoder().decode(payload))
  if (format !== FORMAT) return START
  return { ...START, ...Object.fromEntries(NAMES.map((name, index) => [name, String(values[index])])) }
}

const encode = (bytes: Uint8Array<ArrayBuffer>): string =>
  `d${encodeBase64Url(bytes.buffer).replaceAll('=', '')}`

/** Base64 can spell some bytes in several ways; only the spelling that was sent is accepted. */
function decode(cursor: string): Uint8Array | null {
  try {
    const bytes = decodeBase64Url(cursor.slice(1))
    return encode(bytes) === cursor ? bytes : null
  } catch {
    return null
  }
}

async function checksum(
  payload: Uint8Array,
  { endpoint, brandId, fromDate }: DaysBinding,
): Promise<Uint8Array> {
  const text = JSON.stringify([endpoint, brandId, fromDate, ...payload])
  return (await sha256Bytes(text)).subarray(0, CHECKSUM_BYTES)
}
