import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { activeKey } from '../../lib/access/scope.ts'
import { renderStatement } from '../../lib/database/statement.ts'
import { database } from '../fixtures/rows.ts'
import { tenant } from '../fixtures/tenant.ts'

const db = database()
const statement = renderStatement(activeKey)

async function isLive(key: string, now: string): Promise<boolean> {
  const key_hash = createHash('sha256').update(key).digest('hex')
  expect(statement.parameters).toEqual(['key_hash', 'now'])
  const { rows } = await db.query(statement.sql, [key_hash, now])
  return rows.length === 1
}

test('a key stops to work at its expiry to the millisecond', async () => {
  const { key } = await tenant(db, { key: { expires_at: '2026-10-01T12:00:00.000Z' } })
  expect(await isLive(key, '2026-10-01T11:59:59.999Z')).toBe(true)
  expect(await isLive(key, '2026-10-01T12:00:00.000Z')).toBe(false)
  expect(await isLive(key, '2026-10-01T12:00:00.001Z')).toBe(false)
})
