import { setTimeout as delay } from 'node:timers/promises'
import { type Call, call, FRESH, type Row } from '../call.ts'
import { expectPageOrUnavailable, type Judge } from './assertions.ts'

/** However long an answer says to wait, a test waits no longer. */
const MOST_MS = 150

/** A page tried so often in vain is not coming any more. */
const TRIES = 400

/** Follows `nextCursor` to the end as a patient caller does: what is refused with 503 is sent again after a while. */
export async function pullPatiently(path: string, options: Call, judge: Judge): Promise<Row[]> {
  const rows: Row[] = []
  let cursor: string | undefined
  for (let tries = 0; tries < TRIES; ) {
    const asked = call(path, { ...options, headers: FRESH, query: { ...options.query, cursor } })
    const answer = await judge(asked, (answer) => {
      expectPageOrUnavailable(answer)
      return answer
    })
    if (answer.status !== 200) {
      tries += 1
      await delay(Math.min(MOST_MS, Number(answer.headers.get('Retry-After')) * 1_000))
      continue
    }
    rows.push(...answer.data)
    if (answer.pagination.nextCursor === null) return rows
    cursor = answer.pagination.nextCursor
  }
  throw new Error(`${path} was refused ${TRIES} times`)
}
