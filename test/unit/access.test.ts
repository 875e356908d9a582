import { Context } from 'hono'
import { expect, test } from 'vitest'
import { authorize, hashApiKey, readHeader } from '../../lib/access.ts'
import { sha256 } from '../../lib/api-key.ts'
import { emptyLog, loggedLines, refusedWith } from '../support/log.ts'

const lines = loggedLines()

const presenting = (headers: Record<string, string>) =>
  new Context(new Request('https://export.example/', { headers }))

test('a key is presented in X-API-Key, and known by its hash', async () => {
  const key = `svc_live_${'0123456789abcdef'.repeat(4)}`
  expect(await hashApiKey(presenting({ 'X-API-Key': key }))).toBe(await sha256(key))
})

test.each([
  {},
  { 'X-API-Key': '' },
  { 'X-API-Key': 'svc_live_0' },
  { Authorization: `Bearer svc_live_${'0'.repeat(64)}` },
])('the headers %j present none, whoever asks', async (headers) => {
  await expect(hashApiKey(presenting(headers))).rejects.toMatchObject({ status: 401 })
})

test('the access cells are a list of texts and nulls; without a row there are none', () => {
  expect(readHeader(undefined, null)).toBeNull()
  expect(readHeader(['["a",null,"c"]', 'more'], null)).toEqual(['a', null, 'c'])
})

test.each([
  [[]],
  [[null]],
  [['']],
  [['["a"']],
  [['{"0":"a"}']],
  [['["a",1]']],
  [['["a",["b"]]']],
  [['null']],
])('access cells that are %j are the database’s failure', (row) => {
  expect(refusedWith(() => readHeader(row, emptyLog()))).toBe(503)
  expect(lines.at(-1)).toMatchObject({
    event: 'database_error',
    request_id: 'a-request',
  })
})

test('a key with a plan is admitted, and the log knows whose it is', () => {
  const log = emptyLog()
  expect(authorize(['key', 'organization', 'pro', 'more'], log)).toEqual({
    keyId: 'key',
    organizationId: 'organization',
    plan: 'pro',
  })
  expect(log).toMatchObject({ keyId: 'key', organizationId: 'organization' })
})

test('no cells are no key', () => {
  const log = emptyLog()
  expect(refusedWith(() => authorize(null, log))).toBe(401)
  expect(log).toMatchObject({ keyId: null, organizationId: null })
})

test.each([
  null,
  'gold',
  'constructor',
  '',
])('a key with the plan %j has none, and the log knows whose it is', (plan) => {
  const log = emptyLog()
  expect(refusedWith(() => authorize(['key', 'organization', plan], log))).toBe(403)
  expect(log).toMatchObject({ keyId: 'key', organizationId: 'organization' })
})

test.each([
  [[]],
  [['key', 'organization']],
  [[null, 'organization', 'pro']],
  [['key', null, 'pro']],
])('cells %j are too short to be the key’s fault', (cells) => {
  const log = emptyLog()
  expect(refusedWith(() => authorize(cells, log))).toBe(503)
  expect(log).toMatchObject({ keyId: null, organizationId: null })
  expect(lines.at(-1)).toMatchObject({ kind: 'TypeError' })
})
