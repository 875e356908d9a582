import { expect } from 'vitest'
import { ERRORS, PARAMETER_ERRORS } from '../../lib/request/errors.ts'
import type { Row } from '../fixtures/call.ts'
import { fieldOf, type Received } from './raw-http.ts'

const PARAMETERS = ['brandId', 'since', 'fromDate', 'toDate', 'cursor', 'format']

/** Every message of an error. They are fixed, so none can quote a request or internals. */
const SENTENCES = new Set<string>([
  'Method not allowed. Use GET or HEAD.',
  ...Object.values(ERRORS).map(({ message }) => message),
  ...Object.values(PARAMETER_ERRORS).flatMap((sentence) =>
    typeof sentence === 'string' ? [sentence] : PARAMETERS.map(sentence),
  ),
])

/** Every header of a response. */
const FIELDS = new Set([
  'allow',
  'cache-control',
  'content-disposition',
  'content-length',
  'content-type',
  'etag',
  'link',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'server-timing',
  'transfer-encoding',
  'vary',
  'x-window',
  'x-expected-rows',
  'x-content-type-options',
  'x-brands-digest',
  'x-data-as-of',
  'x-request-id',
])

/** Bytes of all headers together that every client and proxy takes. */
const HEAD_LIMIT = 8192

/** Expects no 5xx, a fixed message in errors, and known headers only. */
export function expectHarmless(answer: Received, method = 'GET'): void {
  const { status, fields, body } = answer
  expect(status, body.slice(0, 200)).toBeLessThan(500)
  expect(fields.map(([name]) => name).filter((name) => !FIELDS.has(name))).toEqual([])
  expect(fields.flat().join('').length).toBeLessThan(HEAD_LIMIT)
  const type = fieldOf(answer, 'content-type')
  if (status !== 304) expect(status === 200 ? TYPES : ['application/json']).toContain(type)
  if (method === 'HEAD' || status === 304) expect(body).toBe('')
  else if (status === 200) rowsOf(answer)
  else {
    const { error, ...rest } = JSON.parse(body)
    expect([SENTENCES.has(error), rest], body).toEqual([true, {}])
  }
}

/** The content types of rows. */
const TYPES = ['application/json', 'application/x-ndjson', 'text/csv; charset=utf-8; header=present']

/** The rows of a response that has some, as a page or as NDJSON. Those of CSV are not parsed. */
export function rowsOf(answer: Received): readonly Row[] {
  const [json, ndjson] = TYPES
  const type = fieldOf(answer, 'content-type')
  if (type === json) return JSON.parse(answer.body).data ?? []
  if (type !== ndjson) return []
  return answer.body
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}
