import { decodeCursor, encodeCursor } from '../page/cursor.ts'
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
  /** Where a part of it was sent: how many rows, and the key of the last one as a JSON array. */
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

// Some loaders evaluate a value that looks like a number, or follow one that looks like a path. A letter prevents both.
const PREFIX = 'd'

const CHECKSUM_BYTES = 8

/** Returns the cursor of a position. */
export async function writeCursor(position: Position, binding: DaysBinding): Promise<string> {
  const payload = JSON.stringify([FORMAT, ...Object.values({ ...START, ...position })])
  const bytes = [...(await checksum(payload, binding)), ...new TextEncoder().encode(payload)]
  return encodeCursor(new Uint8Array(bytes), PREFIX)
}

/**
 * Returns a cursor's position; null when it was altered or belongs to another request. It is checked and not signed: it
 * grants nothing, and must outlive every secret.
 */
export async function readCursor(cursor: string, binding: DaysBinding): Promise<Position | null> {
  const bytes = decodeCursor(cursor, PREFIX)
  if (bytes === null) return null
  const payload = new TextDecoder().decode(bytes.subarray(CHECKSUM_BYTES))
  const expected = await checksum(payload, binding)
  if (!expected.every((byte, index) => byte === bytes[index])) return null
  const [format, ...values] = JSON.parse(payload)
  if (format !== FORMAT) return START
  return { ...START, ...Object.fromEntries(NAMES.map((name, index) => [name, String(values[index])])) }
}

async function checksum(payload: string, { endpoint, brandId, fromDate }: DaysBinding): Promise<Uint8Array> {
  const text = `${JSON.stringify([endpoint, brandId, fromDate])}${payload}`
  return (await sha256Bytes(text)).subarray(0, CHECKSUM_BYTES)
}
