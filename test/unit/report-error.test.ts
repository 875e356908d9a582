import { DrizzleQueryError } from 'drizzle-orm'
import { expect, test, vi } from 'vitest'
import { reportError } from '../../cli/local/report-error.ts'
import { UsageError } from '../../drizzle/db/connect.ts'

const printed = (error: unknown) => {
  const print = vi.spyOn(console, 'error').mockReturnValue()
  reportError(error)
  const { calls } = print.mock
  print.mockRestore()
  return calls
}

const databaseError = (message: string, code: string, hint?: string) =>
  Object.assign(new Error(message), { severity: 'ERROR', code, hint })
const denied = databaseError('permission denied for table api_keys', '42501')
const SENTENCE = 'The database returned an error: permission denied for table api_keys (42501).'

test.for<[string, Error, string]>([
  ['wrong usage', new UsageError('Use a UUID.'), 'Use a UUID.'],
  ['the database', denied, SENTENCE],
  ['the database, through Drizzle', new DrizzleQueryError('select', ['a hash: EPERM'], denied), SENTENCE],
  [
    'the database, with a hint',
    databaseError('row is too big', '54000', 'Store less.'),
    'The database returned an error: row is too big (54000). Store less.',
  ],
  [
    'the database, which quotes data',
    databaseError('invalid input syntax for type json: "\u001b[2J\n"', '22P02'),
    'The database returned an error: invalid input syntax for type json: "\\u001b[2J " (22P02).',
  ],
  [
    'a connection that broke',
    Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' }),
    'The database closed the connection. Try again when it runs.',
  ],
  [
    'a connection that had broken',
    new Error('Client has encountered a connection error and is not queryable'),
    'The database closed the connection. Try again when it runs.',
  ],
  [
    'a file',
    Object.assign(new Error("ENOENT: no such file or directory, open 'x/y'"), { syscall: 'open' }),
    "ENOENT: no such file or directory, open 'x/y'.",
  ],
])('an error of %s is a sentence', ([, error, sentence]) => {
  expect(printed(error)).toEqual([[sentence]])
})

test('an error of the program keeps its stack', () => {
  const error = new TypeError('x is not a function')
  expect(printed(error)).toEqual([[error]])
})
