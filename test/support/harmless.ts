import { expect } from 'vitest'
import { ERRORS, PARAMETER_ERRORS } from '../../lib/errors.ts'
import { fieldOf, type Received } from './wire.ts'

const PARAMETERS = ['brandId', 'since', 'fromDate', 'toDate', 'cursor']

/** Every message of an error. They are fixed, so none can quote a request or internals. */
const SENTENCES = new Set<string>([
  ...Object.values(ERRORS).map(([, sentence]) => sentence),
  ...Object.values(PARAMETER_ERRORS).flatMap((sentence) =>
    typeof sentence === 'string' ? [sentence] : PARAMETERS.map(sentence),
  ),
])

/** Every header of a response. */
const FIELDS = new Set([
  'allow',
  'cache-control',
  'content-length',
  'content-type',
  'etag',
  'link',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'server-timing',
  'x-data-settled-through',
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
  if (status !== 304) expect(fieldOf(answer, 'content-type')).toBe('application/json')
  if (method === 'HEAD' || status === 304) expect(body).toBe('')
  else if (status === 200) JSON.parse(body)
  else {
    const { error, ...rest } = JSON.parse(body)
    expect([SENTENCES.has(error), rest], body).toEqual([true, {}])
  }
}
