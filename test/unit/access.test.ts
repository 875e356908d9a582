import { expect, test } from 'vitest'
import { accessErrorsFirst, authorize } from '../../lib/access/access.ts'
import type { Row } from '../../lib/database/db.ts'
import { parseEnv } from '../../lib/request/env.ts'
import { parameterError } from '../../lib/request/errors.ts'
import { emptyLog, loggedLines, statusOf } from '../fixtures/log.ts'
import { neonAnswers, neonRows } from '../mocks/neon.ts'
import { bindings } from '../mocks/upstash.ts'

const lines = loggedLines()

const FOUND = { key_id: 'key', organization_id: 'organization', plan: 'pro' }

test('returns the row of a valid key and logs whose key it is', () => {
  const log = emptyLog()
  const row = { ...FOUND, other: null }
  expect(authorize(row, log)).toEqual(row)
  expect(log).toMatchObject({ keyId: 'key', organizationId: 'organization' })
})

test.each([
  null,
  'gold',
  'constructor',
  '',
])('returns 403 for the plan %j and logs whose key it is', (plan) => {
  const log = emptyLog()
  expect(statusOf(() => authorize({ ...FOUND, plan }, log))).toBe(403)
  expect(log).toMatchObject({ keyId: 'key', organizationId: 'organization' })
})

test.each<[number, Row | null]>([
  [401, null],
  [503, {}],
  [503, { key_id: 'key', organization_id: 'organization' }],
  [503, { ...FOUND, key_id: null }],
  [503, { ...FOUND, organization_id: null }],
])('returns %i for the row %j and logs no key', (status, row) => {
  const log = emptyLog()
  expect(statusOf(() => authorize(row, log))).toBe(status)
  expect(log).toMatchObject({ keyId: null, organizationId: null })
  const errors =
    status === 503 ? [{ event: 'database_error', request_id: 'a-request', error_name: 'TypeError' }] : []
  expect(lines).toEqual(errors)
})

const context = () => ({
  var: {
    env: parseEnv(bindings()),
    log: { ...emptyLog(), keyHash: 'ab' },
    now: new Date('2026-11-22T00:00:00Z'),
  },
})

test('returns valid parameters without asking the database', async () => {
  expect(await accessErrorsFirst(context(), () => 'parsed')).toBe('parsed')
})

test.each([
  [400, FOUND],
  [401, null],
  [403, { ...FOUND, plan: null }],
])('returns %i for invalid parameters when the database finds %j', async (status, row) => {
  const columns = Object.keys(FOUND)
  const requests = neonAnswers(neonRows(row === null ? [] : [Object.values(row)], { columns }))
  const parse = () => {
    throw parameterError('Parameter format is wrong.')
  }
  await expect(accessErrorsFirst(context(), parse)).rejects.toMatchObject({ status })
  expect(requests).toMatchObject([{ params: ['ab', '2026-11-22T00:00:00.000Z'] }])
})
