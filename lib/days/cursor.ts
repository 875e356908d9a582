import { sign, verify } from '../page/cursor.ts'
import type { Parameters } from '../page/request.ts'

/**
 * Where a reader is (docs/architecture.md, Why nothing is missed). Days are `YYYY-MM-DD`, times those of `changed_at`. An
 * empty text stands for none.
 */
export const START = {
  organization: '',
  /** Identifies the key's own list of brands. */
  list: '',
  /** The reader has all changes until this time, of days from `had` on. */
  since: '',
  had: '',
  /** What `since` and `had` become at the end of the run, and the time at which it began. Empty between runs. */
  until: '',
  reach: '',
  began: '',
  /** The last day that was sent. */
  brand_id: '00000000-0000-0000-0000-000000000000',
  changed_at: '',
  endpoint: '',
  date: '-infinity',
  /** Where only a part of it was sent: how many rows, and the key of the last one as a JSON array. */
  offset: '0',
  key: '[]',
  /** `true` in a run that began with a time: it has no change after `until`, so that its greatest time is one for all brands. */
  timed: '',
  /** `true` in a run that followed another at once. */
  follows: '',
}

export type Position = Readonly<typeof START>

/** Counts the formats of cursors, which all begin with the organization. One of another format starts again. */
const FORMAT = '1'

const PREFIX = 'd'

/** No secret: a cursor grants nothing and must outlive every secret. The signature finds cursors that were altered. */
const SECRET = 'days'

type Binding = Pick<Parameters, 'endpoint' | 'brandId' | 'fromDate'>

const bindingOf = ({ endpoint, brandId, fromDate }: Binding): unknown[] => [endpoint, brandId, fromDate]

/** Returns the cursor of a position. It belongs to requests with the same endpoint, brand and first day. */
export function writeCursor(position: Position, binding: Binding): Promise<string> {
  const written: Readonly<Record<string, string>> = position
  const values = Object.entries(START).map(([name, start]) =>
    written[name] === start ? null : written[name],
  )
  return sign([FORMAT, ...values], bindingOf(binding), SECRET, PREFIX)
}

/** Returns a cursor's position; null when it was altered or belongs to another request. */
export async function readCursor(cursor: string, binding: Binding): Promise<Position | null> {
  const [format, ...values] = (await verify(cursor, bindingOf(binding), [SECRET], PREFIX)) ?? []
  if (format === undefined) return null
  if (format !== FORMAT) return { ...START, organization: String(values[0]) }
  const written = Object.keys(START).flatMap((name, index) =>
    values[index] === null ? [] : [[name, values[index]]],
  )
  return { ...START, ...Object.fromEntries(written) }
}
