import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { type CursorBinding, type CursorPosition, signCursor, verifyCursor } from '../../lib/page/cursor.ts'

const BINDING: CursorBinding = {
  endpoint: '/competitors',
  brandId: '11111111-1111-1111-1111-111111111111',
  fromDate: '2026-10-01',
  toDate: '2026-10-31',
}
const POSITION = {
  window: {
    first: '2026-10-01',
    last: '2026-10-31',
    end: '2026-10-31T23:59:59.999Z',
    startedAt: '2026-11-21T23:59:59.500Z',
  },
  organizationId: null,
  after: ['2026-10-07', 'Čapek, "Ω" & 日本 😀'],
}
const NEW = 'the-new-secret-of-tests'
const OLD = 'the-old-secret-of-tests'
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

const toCursor = (bytes: string | Uint8Array) => `c${Buffer.from(bytes).toString('base64url')}`

const sign = (position: CursorPosition = POSITION, binding: CursorBinding = BINDING) =>
  signCursor(position, binding, [NEW])

describe('a cursor', () => {
  test('returns the position that it was signed with, and carries the organization of a run without a brand', async () => {
    const position = { ...POSITION, organizationId: '22222222-2222-2222-2222-222222222222' }
    for (const [each, binding] of [
      [POSITION, BINDING],
      [position, { endpoint: '/changes' }],
    ] as const)
      expect(await verifyCursor(await sign(each, binding), binding, [NEW])).toEqual(each)
  })

  test('starts with a letter and needs no escaping in a URL', async () => {
    for (let length = 0; length < 30; length += 1) {
      const cursor = await sign({ ...POSITION, after: ['?'.repeat(length)] })
      expect(cursor).toMatch(/^[A-Za-z][A-Za-z0-9_-]+$/)
    }
  })

  test('is valid only with its endpoint, brand, requested dates and since, which a request need not have', async () => {
    const since = '2026-11-02T04:31:07.123456Z'
    const cursor = await sign(POSITION, { ...BINDING, since })
    expect(await verifyCursor(cursor, { ...BINDING, since }, [NEW])).toEqual(POSITION)
    const without = await sign(POSITION, { ...BINDING, fromDate: undefined, toDate: undefined })
    const { endpoint, brandId, fromDate, toDate } = BINDING
    for (const other of [
      BINDING,
      { ...BINDING, since: '2026-11-02T04:31:07.123457Z' },
      { ...BINDING, since, endpoint: '/citations' },
      { ...BINDING, since, brandId: '11111111-1111-1111-1111-111111111112' },
      { ...BINDING, since, fromDate: '2026-10-02' },
      { ...BINDING, since, toDate: '2026-10-30' },
      { since, endpoint, brandId, toDate },
      { since, endpoint, brandId, fromDate },
      { since, endpoint, brandId, fromDate: toDate, toDate: fromDate },
      { since, endpoint, brandId },
      { since, endpoint, fromDate, toDate },
    ]) {
      expect(await verifyCursor(cursor, other, [NEW]), JSON.stringify(other)).toBeNull()
    }
    expect(await verifyCursor(without, BINDING, [NEW])).toBeNull()
    expect(await verifyCursor(without, { endpoint, brandId }, [NEW])).toEqual(POSITION)
  })

  test('is invalid when any one character is changed', async () => {
    const cursor = await sign()
    for (const [index, character] of [...cursor].entries()) {
      const next = ALPHABET[(ALPHABET.indexOf(character) + 1) % ALPHABET.length]
      const altered = cursor.slice(0, index) + next + cursor.slice(index + 1)
      expect(await verifyCursor(altered, BINDING, [NEW]), `at ${index}`).toBeNull()
    }
  })

  test('is invalid when it is shortened, extended or spelled in another way', async () => {
    const cursor = await sign()
    const others = [
      ...Array.from(cursor, (_, length) => cursor.slice(0, length)),
      ...['A', 'AA', 'AAAA', '=', '==', ' ', '\n', '\0', '%', '\u200b', cursor].flatMap((more) => [
        cursor + more,
        more + cursor,
        cursor.slice(0, 9) + more + cursor.slice(9),
      ]),
      ...[cursor.slice(1), cursor.replace('c', 'C'), cursor.toUpperCase(), cursor.toLowerCase()],
    ]
    for (const other of others) expect(await verifyCursor(other, BINDING, [NEW]), other).toBeNull()
  })

  test('is invalid when only unused bits of its last character are changed', async () => {
    for (const name of ['a', 'ab', 'abc']) {
      const cursor = await sign({ ...POSITION, after: [name] })
      for (const last of ALPHABET) {
        const altered = cursor.slice(0, -1) + last
        if (altered !== cursor) expect(await verifyCursor(altered, BINDING, [NEW]), altered).toBeNull()
      }
    }
  })

  test('is invalid when it was not signed here, whatever its bytes', async () => {
    const forged = `${'\0'.repeat(16)}["2026-10-01","2026-10-31","",""]`
    for (const cursor of ['', 'c', 'null', 'c===', 'c😀', `c${'A'.repeat(10_000)}`, toCursor(forged)]) {
      expect(await verifyCursor(cursor, BINDING, [NEW]), cursor.slice(0, 60)).toBeNull()
    }
    const random = fc.oneof(fc.uint8Array({ maxLength: 150 }).map(toCursor), fc.string({ unit: 'binary' }))
    const isInvalid = async (cursor: string) => (await verifyCursor(cursor, BINDING, [NEW])) === null
    await fc.assert(fc.asyncProperty(random, isInvalid), { numRuns: 1000 })
  })
})

test('the secret before the current one keeps its cursors valid until it is removed, and signs none', async () => {
  const before = await signCursor(POSITION, BINDING, [OLD])
  expect(await verifyCursor(before, BINDING, [NEW, OLD])).toEqual(POSITION)
  expect(await verifyCursor(before, BINDING, [NEW])).toBeNull()
  const after = await signCursor(POSITION, BINDING, [NEW, OLD])
  expect(await verifyCursor(after, BINDING, [NEW])).toEqual(POSITION)
  expect(await verifyCursor(after, BINDING, [OLD])).toBeNull()
})

test('imports the key of a secret once per isolate, as not extractable', async () => {
  const imported = vi.spyOn(crypto.subtle, 'importKey')
  const secret = 'a-secret-of-this-test-only'
  const cursor = await signCursor(POSITION, BINDING, [secret])
  expect(await verifyCursor(cursor, BINDING, [secret])).toEqual(POSITION)
  expect(imported).toHaveBeenCalledTimes(1)
  expect(await imported.mock.results[0]?.value).toMatchObject({ extractable: false, usages: ['sign'] })
  imported.mockRestore()
})
