import { sql } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import { asCells, run, runPrepared, unavailable } from '../../lib/db.ts'
import { callOf, type PreparedStatement, prepare, prepareStatement } from '../../lib/prepared-statement.ts'
import { emptyLog, loggedLines } from '../support/log.ts'
import {
  type NeonAnswer,
  neonAnswers,
  neonFails,
  neonRows,
  type RequestContext,
  silence,
} from '../support/neon.ts'

const ENV = { DATABASE_URL: 'postgresql://me:secret@db.example/x' }
const reader = () => ({ env: ENV, log: emptyLog() })
const query = prepare(sql`select ${sql.placeholder('one')}`)

let asked: RequestContext[] = []
const answering = (...answers: readonly NeonAnswer[]) => {
  asked = neonAnswers(...answers)
}

const lines = loggedLines()

const REFUSED = { status: 503, headers: { 'Retry-After': '5' } }
const failed = (found: Record<string, unknown>) => ({
  event: 'database_error',
  request_id: 'a-request',
  ...found,
})

describe('one statement', () => {
  test('goes to Neon in one request, with its values, and its rows come as Postgres wrote them', async () => {
    answering(
      neonRows([
        ['0010.50', null],
        ['x', ''],
      ]),
    )
    const its = reader()
    expect(await run(its, query, { one: 'a value' })).toEqual([
      ['0010.50', null],
      ['x', ''],
    ])
    expect(asked).toMatchObject([{ query: 'select $1', params: ['a value'] }])
    expect(asked[0]?.headers.get('Neon-Connection-String')).toContain(ENV.DATABASE_URL)
    expect(its.log.trips).toEqual({ neon: 1, upstash: 0 })
    expect(lines).toEqual([])
  })

  test('may give no rows', async () => {
    answering(neonRows([], { rowCount: 0 }))
    expect(await run(reader(), query, { one: '' })).toEqual([])
  })

  test.each([
    ['fewer rows than it says', neonRows([['1', '2']], { rowCount: 2 })],
    ['more rows than it says', neonRows([['1', '2']], { rowCount: 0 })],
    ['no word of how many rows', neonRows([['1', '2']], { rowCount: null })],
    ['a row that is cut short', neonRows([['1', '2'], ['1']])],
    ['a row that is too wide', neonRows([['1', '2', '3']])],
    ['a number where a text belongs', neonRows([['1', 2]])],
  ])('is refused where the answer has %s', async (_, answer) => {
    answering(answer)
    await expect(run(reader(), query, { one: '' })).rejects.toMatchObject(REFUSED)
    expect(lines).toEqual([failed({ kind: 'TypeError' })])
  })

  test.each([
    ['with a code of Postgres', '57014', { code: '57014' }],
    ['without one', undefined, {}],
    ['with a text instead', 'svc_live_secret', {}],
    ['with a code and more', '57014x', {}],
    ['with a code after more', 'x57014', {}],
  ])('that fails %s is refused, and nothing else of the failure is told', async (_, code, toBudget) => {
    answering(neonFails({ message: 'secret detail', code }))
    await expect(run(reader(), query, { one: '' })).rejects.toMatchObject(REFUSED)
    expect(lines).toEqual([failed({ kind: 'NeonDbError', ...toBudget })])
  })

  test('is refused when Neon cannot be reached, and the line says why', async () => {
    answering(() => Promise.reject(new TypeError('secret detail')))
    await expect(run(reader(), query, { one: '' })).rejects.toMatchObject(REFUSED)
    expect(lines).toEqual([failed({ kind: 'NeonDbError', source: 'TypeError' })])
  })

  test('is refused when Neon says nothing for as long as it may', async () => {
    answering(silence)
    await expect(run(reader(), query, { one: '' }, 30)).rejects.toMatchObject(REFUSED)
    expect(lines).toEqual([failed({ kind: 'NeonDbError', source: 'TimeoutError' })])
  })
})

describe('a statement that the database may hold', () => {
  const kept = (text: string, smaller?: PreparedStatement) =>
    prepareStatement(sql`select ${sql.placeholder('one')}, ${sql.raw(text)}`, 2, smaller)
  const ask = (statement: PreparedStatement) => runPrepared(reader(), statement, { one: 'a value' })
  const queries = () => asked.map((each) => each.query)
  const WHOLE = neonRows([['1', '2']])

  test('is asked for by name', async () => {
    const statement = kept('1')
    answering(WHOLE)
    expect(await ask(statement)).toEqual([['1', '2']])
    expect(asked).toMatchObject([{ query: (await callOf(statement)).sql, params: ['a value'] }])
    expect(lines).toEqual([])
  })

  test.each([
    '42883',
    '3F000',
    '42501',
  ])('is sent as text where it is not held (%s), and from then on at once; one line says so', async (code) => {
    const statement = kept(`'${code}'`)
    answering(neonFails({ message: 'not here', code }), WHOLE, WHOLE)
    expect(await ask(statement)).toEqual([['1', '2']])
    expect(await ask(statement)).toEqual([['1', '2']])
    expect(queries()).toEqual([(await callOf(statement)).sql, statement.sql, statement.sql])
    expect(lines).toEqual([{ event: 'prepared_statement_missing', request_id: 'a-request' }])
  })

  test('is not sent again where something else fails', async () => {
    answering(neonFails({ message: 'no such table', code: '42P01' }))
    await expect(ask(kept('2', kept('3')))).rejects.toMatchObject(REFUSED)
    expect(asked).toHaveLength(1)
    expect(lines).toEqual([failed({ kind: 'NeonDbError', code: '42P01' })])
  })

  test('whose answer is too large is asked for in its smaller form', async () => {
    const smaller = kept('5')
    answering(() => new Response('too large', { status: 507 }), WHOLE)
    expect(await ask(kept('4', smaller))).toEqual([['1', '2']])
    expect(queries()[1]).toBe((await callOf(smaller)).sql)
    expect(lines).toEqual([])
  })

  test.each([
    ['is too large, and has no smaller form', 507, undefined],
    ['is refused by a server', 500, kept('6')],
  ])('whose answer %s is refused', async (_, status, smaller) => {
    answering(() => new Response('secret detail', { status }))
    await expect(ask(kept('7', smaller))).rejects.toMatchObject(REFUSED)
    expect(asked).toHaveLength(1)
    expect(lines).toEqual([failed({ kind: 'NeonDbError' })])
  })
})

test('what fails outside of a request, or is no error at all, is told by its kind', () => {
  expect(unavailable('secret detail', emptyLog())).toMatchObject(REFUSED)
  expect(unavailable(new RangeError('secret detail'), null)).toMatchObject(REFUSED)
  expect(unavailable(Object.assign(new Error('x'), { sourceError: 'secret' }), null)).toMatchObject(REFUSED)
  expect(lines).toEqual([
    failed({ kind: 'string' }),
    { event: 'database_error', kind: 'RangeError' },
    { event: 'database_error', kind: 'Error' },
  ])
})

test('cells are texts and nulls, in a list', () => {
  expect(asCells(['a', null, ''])).toEqual(['a', null, ''])
  expect(asCells([])).toEqual([])
  for (const value of ['ab', { length: 0 }, null, [1], ['a', undefined]]) {
    expect(() => asCells(value)).toThrow(TypeError)
  }
})
