import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { type CursorBinding, type CursorPosition, signCursor, verifyCursor } from '../../lib/cursor.ts'
import { checkProperty, scaledTimeout } from '../support/effort.ts'
import { respellings, tampered } from '../support/tampering.ts'

const SECRET = 'the-secret-of-tests'
const DATES = { fromDate: '2020-01-01', toDate: '2025-12-31' }
const BINDING: CursorBinding = { endpoint: '/citations', brandId: randomUUID(), ...DATES }
const WINDOW = { first: DATES.fromDate, last: DATES.toDate, end: '2025-12-31T23:59:59.999Z' }

/** Cursors that are judged side by side. */
const AT_ONCE = { minLength: 100, maxLength: 100 }

let judged = 0
let accepted = 0

afterAll(() => console.log(`hostile cursors tried ${judged}, accepted ${accepted}`))

/** Expects none of these to open. */
async function expectInvalid(cursors: readonly string[]): Promise<void> {
  const opened = await Promise.all(cursors.map((cursor) => verifyCursor(cursor, BINDING, [SECRET])))
  const wrong = cursors.filter((_, index) => opened[index] !== null)
  judged += cursors.length
  accepted += wrong.length
  expect(wrong).toEqual([])
}

const bytes = fc.uint8Array({ maxLength: 150 }).map((some) => `c${Buffer.from(some).toString('base64url')}`)

const position: fc.Arbitrary<CursorPosition> = fc
  .array(fc.oneof(fc.constantFrom('2026-10-07', 'true', randomUUID()), fc.string({ unit: 'grapheme' })), {
    maxLength: 3,
  })
  .map((after) => ({ window: WINDOW, after }))

describe('rejects a cursor that it did not sign, without throwing', () => {
  test('random bytes and random text', { timeout: scaledTimeout(120_000) }, async () => {
    const random = fc.oneof(bytes, fc.string({ unit: 'binary', maxLength: 40 }))
    await checkProperty(fc.asyncProperty(fc.array(random, AT_ONCE), expectInvalid), 400)
  })

  test('a genuine one with changed bits or bytes', { timeout: scaledTimeout(120_000) }, async () => {
    const changes = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 2 ** 16 })), AT_ONCE)
    const property = fc.asyncProperty(position, changes, async (position, changes) => {
      const genuine = await signCursor(position, BINDING, [SECRET])
      expect(await verifyCursor(genuine, BINDING, [SECRET])).toEqual(position)
      const changed = changes.map(([at, how]) => tampered(genuine, at, how))
      await expectInvalid(changed.filter((each) => each !== genuine))
    })
    await checkProperty(property, 650)
  })

  test('a genuine one in another spelling', async () => {
    const property = fc.asyncProperty(position, async (position) => {
      const genuine = await signCursor(position, BINDING, [SECRET])
      await expectInvalid(respellings(genuine).filter((each) => each !== genuine))
    })
    await checkProperty(property, 60)
  })

  test('one signed for another request or with another secret', async () => {
    const text = fc.oneof(fc.constantFrom('/brands', '', 'null', '"', ','), fc.string({ unit: 'grapheme' }))
    const day = fc.option(text, { nil: undefined })
    const other = fc.record({ endpoint: text, brandId: text, fromDate: day, toDate: day })
    const property = fc.asyncProperty(position, other, async (position, other) => {
      const names = ['endpoint', 'brandId', 'fromDate', 'toDate'] as const
      const bindings = names.map((name) => ({ ...BINDING, [name]: other[name] }))
      const sealed = bindings.map((binding) => signCursor(position, binding, [SECRET]))
      await expectInvalid(await Promise.all([...sealed, signCursor(position, BINDING, [`${SECRET}.`])]))
    })
    await checkProperty(property, 200)
  })
})
