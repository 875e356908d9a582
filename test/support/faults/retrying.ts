import { setTimeout as delay } from 'node:timers/promises'
import { type Call, call, FRESH, type Row } from '../call.ts'
import { expectPageOrUnavailable, type Judge } from './assertions.ts'

/** A test waits at most this long, whatever `Retry-After` says. */
const MOST_MS = 150

/** Requests for one page before the test gives up. */
const TRIES = 400

/** Follows `nextCursor` to the end, and repeats a request after a 503. */
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
  throw new Error(`${path} returned 503 ${TRIES} times`)
}
