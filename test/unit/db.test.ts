import { describe, expect, test } from 'vitest'
import { databaseError, run, runPrepared } from '../../lib/database/db.ts'
import { callOf, type Statement } from '../../lib/database/statement.ts'
import { emptyLog, loggedLines } from '../fixtures/log.ts'
import {
  type NeonAnswer,
  type NeonRequest,
  neonAnswers,
  neonFails,
  neonRows,
  silence,
} from '../mocks/neon.ts'

const ENV = { DATABASE_URL: 'postgresql://me:secret@db.example/x' }
const statement = { sql: 'select $1', parameters: ['one'] }

const lines = loggedLines()
const logged = (found: Record<string, unknown>) => ({
  event: 'database_error',
  request_id: 'a-request',
  ...found,
})

const UNAVAILABLE = { status: 503, headers: { 'Retry-After': '5' } }

describe('run', () => {
  const runWith = (answer: NeonAnswer, timeoutMs?: number) => {
    const [requests, log] = [neonAnswers(answer), emptyLog()]
    return { requests, log, row: run({ env: ENV, log }, statement, { one: 'a value' }, timeoutMs) }
  }

  test('sends one request and returns the row by column name, as the text that Postgres wrote', async () => {
    const { requests, log, row } = runWith(neonRows([['0010.50', null]]))
    expect(await row).toEqual({ one: '0010.50', two: null })
    expect(requests).toMatchObject([{ query: 'select $1', params: ['a value'] }])
    expect(requests[0]?.headers.get('Neon-Connection-String')).toContain(ENV.DATABASE_URL)
    expect(log.subrequests).toEqual({ neon: 1, upstash: 0 })
    expect(lines).toEqual([])
  })

  test('returns null for a result without rows', async () => {
    expect(await runWith(neonRows([])).row).toBeNull()
  })

  test.each([
    ['has fewer rows than it says', neonRows([['1', '2']], { rowCount: 2 })],
    ['has no rows but says one', neonRows([], { rowCount: 1 })],
    ['has more rows than it says', neonRows([['1', '2']], { rowCount: 0 })],
    ['says no number of rows', neonRows([['1', '2']], { rowCount: null })],
    [
      'has two rows',
      neonRows([
        ['1', '2'],
        ['1', '2'],
      ]),
    ],
    ['has too few cells', neonRows([['1']])],
    ['has too many cells', neonRows([['1', '2', '3']])],
    ['has a number where text belongs', neonRows([['1', 2]])],
  ])('returns 503 when the result %s', async (_, answer) => {
    await expect(runWith(answer).row).rejects.toMatchObject(UNAVAILABLE)
    expect(lines).toEqual([logged({ error_name: 'TypeError' })])
  })

  test.each([
    [400, 'secret detail', '57014', { code: '57014' }],
    [400, 'secret detail', undefined, {}],
    [400, 'secret detail', '57014x', {}],
    [400, 'secret detail', 'x57014', {}],
    [400, "password authentication failed for user 'secret'", '', { reason: 'wrong_password' }],
    [400, 'query_wait_timeout', '08P01', { code: '08P01', reason: 'pooler_timeout' }],
    [500, "Couldn't connect to compute node", '', { reason: 'compute_unreachable' }],
    [500, 'Control plane request failed: endpoint is disabled', '', { reason: 'endpoint_disabled' }],
    [500, 'sorry, too many clients already', '53300', { code: '53300' }],
    [507, 'response is too large (max is 10485760 bytes)', '', { reason: 'too_large' }],
    [500, 'secret detail', 'svc_live_secret', {}],
  ])('returns 503 and logs only the class of what Neon answers: %i "%s"', async (status, message, code, also) => {
    const answer = () => Response.json({ message, code, severity: '', detail: null }, { status })
    await expect(runWith(answer).row).rejects.toMatchObject(UNAVAILABLE)
    expect(lines).toEqual([logged({ error_name: 'NeonDbError', neon_status: status, ...also })])
  })

  test('returns Retry-After: 1 when requests exceed the rate that Neon allows', async () => {
    const message = 'Too many connections to this endpoint. Please try again later.'
    const { row } = runWith(() => Response.json({ message, code: '' }, { status: 500 }))
    await expect(row).rejects.toMatchObject({ status: 503, headers: { 'Retry-After': '1' } })
    expect(lines).toEqual([logged({ error_name: 'NeonDbError', neon_status: 500, reason: 'rate_limit' })])
  })

  test.each<[string, NeonAnswer, string]>([
    ['cannot be reached', () => Promise.reject(new TypeError('secret detail')), 'TypeError'],
    ['does not answer in time', silence, 'TimeoutError'],
  ])('returns 503 when Neon %s, and logs the source', async (_, answer, source) => {
    await expect(runWith(answer, 30).row).rejects.toMatchObject(UNAVAILABLE)
    expect(lines).toEqual([logged({ error_name: 'NeonDbError', source })])
  })
})

describe('runPrepared', () => {
  let requests: NeonRequest[] = []
  const answering = (...answers: readonly NeonAnswer[]) => {
    requests = neonAnswers(...answers)
  }
  const prepared = (text: string) => ({ sql: `select $1, ${text}`, parameters: ['one'] })
  const ask = (statement: Statement) =>
    runPrepared({ env: ENV, log: emptyLog() }, statement, { one: 'a value' })
  const queries = () => requests.map((each) => each.query)

  const COMPLETE = neonRows([['1', '2']])
  const ROW = { one: '1', two: '2' }

  test('calls the function of the statement', async () => {
    const statement = prepared('1')
    answering(COMPLETE)
    expect(await ask(statement)).toEqual(ROW)
    expect(requests).toMatchObject([{ query: (await callOf(statement)).sql, params: ['a value'] }])
    expect(lines).toEqual([])
  })

  test.each([
    '42883',
    '3F000',
    '42501',
  ])('sends the text when the function is missing (%s), and logs it', async (code) => {
    const statement = prepared(`'${code}'`)
    answering(neonFails({ message: 'missing', code }), COMPLETE)
    expect(await ask(statement)).toEqual(ROW)
    expect(queries()).toEqual([(await callOf(statement)).sql, statement.sql])
    expect(lines).toEqual([{ event: 'prepared_statement_missing', request_id: 'a-request' }])
  })

  test.each<[string, NeonAnswer, Record<string, unknown>]>([
    [
      'another SQL error',
      neonFails({ message: 'no table', code: '42P01' }),
      { neon_status: 400, code: '42P01' },
    ],
    ['another HTTP error', () => new Response('secret', { status: 507 }), { neon_status: 507 }],
  ])('returns 503 after one request for %s', async (_, answer, also) => {
    answering(answer)
    await expect(ask(prepared('7'))).rejects.toMatchObject(UNAVAILABLE)
    expect(requests).toHaveLength(1)
    expect(lines).toEqual([logged({ error_name: 'NeonDbError', ...also })])
  })
})

test('databaseError logs the name of an error, the type of anything else, and no message', () => {
  expect(databaseError('secret detail', emptyLog())).toMatchObject(UNAVAILABLE)
  expect(databaseError(new RangeError('secret detail'), null)).toMatchObject(UNAVAILABLE)
  expect(databaseError(Object.assign(new Error('x'), { sourceError: 'secret' }), null)).toMatchObject(
    UNAVAILABLE,
  )
  expect(lines).toEqual([
    logged({ error_name: 'string' }),
    { event: 'database_error', error_name: 'RangeError' },
    { event: 'database_error', error_name: 'Error' },
  ])
})
