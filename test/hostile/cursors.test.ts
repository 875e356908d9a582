import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { type CursorBinding, type CursorPosition, openCursor, sealCursor } from '../../lib/cursor.ts'
import { hold, patience, tries } from '../support/effort.ts'
import { ALPHABET, respellings, tampered } from '../support/tampering.ts'

const SECRET = 'the-secret-of-tests'
const DATES = { fromDate: '2020-01-01', toDate: '2025-12-31' }
const BINDING: CursorBinding = { endpoint: '/citations', brandId: randomUUID(), ...DATES }
const WINDOW = { first: DATES.fromDate, last: DATES.toDate, end: '2025-12-31T23:59:59.999Z' }

const counted = { judged: 0, accepted: 0 }

afterAll(() => {
  const { judged, accepted } = counted
  console.log(`hostile cursors tried ${judged}, accepted ${accepted}`)
})

const letters = fc
  .array(fc.constantFrom(...ALPHABET), { maxLength: 200 })
  .map((characters) => `c${characters.join('')}`)

const position: fc.Arbitrary<CursorPosition> = fc
  .array(fc.oneof(fc.constantFrom('2026-10-07', 'true', randomUUID()), fc.string({ unit: 'grapheme' })), {
    maxLength: 3,
  })
  .map((after) => ({ window: WINDOW, after }))

describe('a cursor that was not handed out is refused, and nothing is thrown', () => {
  const refuse = async (cursor: string): Promise<void> => {
    counted.judged += 1
    const opened = await openCursor(cursor, BINDING, [SECRET, 'the-secret-before'])
    if (opened === null) return
    counted.accepted += 1
    throw new Error(`${JSON.stringify(cursor)} was opened`)
  }

  test(
    'be it random letters, random text or random bytes',
    async () => {
      const random = fc.oneof(
        letters,
        fc.string({ unit: 'binary', maxLength: 100 }),
        fc.string({ unit: 'grapheme' }),
      )
      await hold(fc.asyncProperty(random, refuse), 40_000)
    },
    patience(60_000),
  )

  test(
    'be it a genuine one with bits flipped, bytes changed or stretches moved',
    async () => {
      const change = fc.tuple(
        position,
        fc.array(fc.tuple(fc.nat(), fc.nat({ max: 2 ** 16 })), { minLength: 60, maxLength: 60 }),
      )
      const property = fc.asyncProperty(change, async ([position, changes]) => {
        const genuine = await sealCursor(position, BINDING, [SECRET])
        expect(await openCursor(genuine, BINDING, [SECRET])).toEqual(position)
        for (const [at, how] of changes) {
          const changed = tampered(genuine, at, how)
          if (changed !== genuine) await refuse(changed)
        }
      })
      await hold(property, 1_000)
    },
    patience(60_000),
  )

  test(
    'be it a genuine one in another spelling',
    async () => {
      const property = fc.asyncProperty(position, async (position) => {
        const genuine = await sealCursor(position, BINDING, [SECRET])
        await Promise.all(
          respellings(genuine)
            .filter((each) => each !== genuine)
            .map(refuse),
        )
      })
      await hold(property, 60)
    },
    patience(60_000),
  )

  test(
    'be it sealed for anything else',
    async () => {
      const text = fc.oneof(
        fc.constantFrom('/brands', '', 'null', '"', ','),
        fc.string({ unit: 'grapheme', maxLength: 12 }),
      )
      const day = fc.option(text, { nil: undefined })
      const other = fc.record({ endpoint: text, brandId: text, fromDate: day, toDate: day })
      const property = fc.asyncProperty(position, other, async (position, other) => {
        for (const name of ['endpoint', 'brandId', 'fromDate', 'toDate'] as const) {
          await refuse(await sealCursor(position, { ...BINDING, [name]: other[name] }, [SECRET]))
        }
        await refuse(await sealCursor(position, BINDING, [`${SECRET}${other.brandId || ' '}`]))
      })
      await hold(property, 400)
    },
    patience(60_000),
  )

  test('100,000 of them', () => {
    expect(counted.judged).toBeGreaterThanOrEqual(tries(100_000))
  })
})
