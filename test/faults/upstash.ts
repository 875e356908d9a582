import { answering, type Fault } from './fault.ts'

const result = (name: string, value: unknown): Fault =>
  answering(`gives ${name} for a count`, () => Response.json({ result: value }))

const error = (status: number, sentence: string): Fault =>
  answering(`answers ${status} "${sentence}"`, () => Response.json({ error: sentence }, { status }))

/** Answers that only a server of Upstash's protocol could give: its refusals, and results that are no count. */
export const UPSTASH_FAULTS: readonly Fault[] = [
  error(200, 'ERR secret detail'),
  error(200, 'NOSCRIPT No matching script. Please use EVAL.'),
  error(400, 'NOSCRIPT No matching script. Please use EVAL.'),
  error(400, 'ERR max daily request limit exceeded. Limit: 10000, Usage: 10000.'),
  error(400, 'ERR max requests limit exceeded.'),
  error(400, 'OOM command not allowed when used memory > maxmemory.'),
  error(400, 'READONLY You cannot write against a read only replica.'),
  error(400, 'LOADING Redis is loading the dataset in memory'),
  error(401, 'WRONGPASS invalid or missing auth token'),
  error(429, 'ERR max concurrent connections exceeded'),
  result('null', null),
  result('a number', 7),
  result('OK', 'OK'),
  result('a text', Buffer.from('secret detail').toString('base64')),
  result('a text that is no base64', '%%%'),
  result('an object', {}),
  result('an empty list', []),
  result('one number', [1]),
  result('a list of null', [null]),
  result('nulls', [null, null]),
  result('texts', ['c2VjcmV0', 'ZGV0YWls']),
  result('lists', [[], []]),
  result('objects', [{}, {}]),
]
