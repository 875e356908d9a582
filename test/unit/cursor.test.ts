import { describe, expect, test, vi } from 'vitest'
import { type CursorBinding, type CursorPosition, signCursor, verifyCursor } from '../../lib/cursor.ts'

const BINDING: CursorBinding = {
  endpoint: '/competitors',
  brandId: '11111111-1111-1111-1111-111111111111',
  fromDate: '2026-10-01',
  toDate: '2026-10-31',
}
const POSITION: CursorPosition = {
  window: { first: '2026-10-01', last: '2026-10-31', end: '2026-10-31T23:59:59.999Z' },
  after: ['2026-10-07', 'Čapek, "Ω" & 日本 😀'],
}
const NEW = 'the-new-secret-of-tests'
const OLD = 'the-old-secret-of-tests'
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

const seal = (position = POSITION, binding = BINDING) => signCursor(position, binding, [NEW])

describe('a cursor', () => {
  test('gives back the position that was put in', async () => {
    expect(await verifyCursor(await seal(), BINDING, [NEW])).toEqual(POSITION)
  })

  test('starts with a letter and needs no escaping in a URL', async () => {
    for (let length = 0; length < 30; length += 1) {
      const cursor = await seal({ ...POSITION, after: ['?'.repeat(length)] })
      expect(cursor).toMatch(/^[A-Za-z][A-Za-z0-9_-]+$/)
    }
  })

  test('of one position is always the same text', async () => {
    expect(await seal()).toBe(await seal())
  })

  test('belongs to its endpoint, brand and dates as they were asked for', async () => {
    const cursor = await seal()
    const without = await seal(POSITION, { ...BINDING, fromDate: undefined, toDate: undefined })
    const { endpoint, brandId, fromDate, toDate } = BINDING
    for (const other of [
      { ...BINDING, endpoint: '/citations' },
      { ...BINDING, brandId: '11111111-1111-1111-1111-111111111112' },
      { ...BINDING, fromDate: '2026-10-02' },
      { ...BINDING, toDate: '2026-10-30' },
      { endpoint, brandId, toDate },
      { endpoint, brandId, fromDate },
      { endpoint, brandId, fromDate: toDate, toDate: fromDate },
      { endpoint, brandId },
    ]) {
      expect(await verifyCursor(cursor, other, [NEW]), JSON.stringify(other)).toBeNull()
    }
    expect(await verifyCursor(without, BINDING, [NEW])).toBeNull()
    expect(await verifyCursor(without, { endpoint, brandId }, [NEW])).toEqual(POSITION)
  })

  test('with any one character exchanged is refused', async () => {
    const cursor = await seal()
    for (const [index, character] of [...cursor].entries()) {
      const next = ALPHABET[(ALPHABET.indexOf(character) + 1) % ALPHABET.length]
      const altered = cursor.slice(0, index) + next + cursor.slice(index + 1)
      expect(await verifyCursor(altered, BINDING, [NEW]), `at ${index}`).toBeNull()
    }
  })

  test('whose last character only differs in bits that carry nothing is refused', async () => {
    for (const name of ['a', 'ab', 'abc']) {
      const cursor = await seal({ ...POSITION, after: [name] })
      for (const last of ALPHABET) {
        const altered = cursor.slice(0, -1) + last
        if (altered !== cursor) expect(await verifyCursor(altered, BINDING, [NEW]), altered).toBeNull()
      }
    }
  })

  test('that was cut short or made longer is refused', async () => {
    const cursor = await seal()
    for (let length = 0; length < cursor.length; length += 1) {
      expect(await verifyCursor(cursor.slice(0, length), BINDING, [NEW]), `${length}`).toBeNull()
    }
    for (const more of ['A', 'AA', 'AAAA', '=', '==', ' ', '\n', '\0', '%', cursor]) {
      expect(await verifyCursor(cursor + more, BINDING, [NEW]), JSON.stringify(more)).toBeNull()
    }
    for (const less of [cursor.slice(1), ` ${cursor}`, cursor.replace('c', 'C'), cursor.toUpperCase()]) {
      expect(await verifyCursor(less, BINDING, [NEW]), less).toBeNull()
    }
  })

  test('that was never ours is refused', async () => {
    const forged = Buffer.from(`${'\0'.repeat(16)}["2026-10-01","2026-10-31","",""]`).toString('base64url')
    for (const cursor of ['', 'c', 'null', 'c===', `c${forged}`, 'c😀', `c${'A'.repeat(10_000)}`]) {
      expect(await verifyCursor(cursor, BINDING, [NEW]), cursor.slice(0, 60)).toBeNull()
    }
  })
})

describe('a change of the secret', () => {
  test('leaves cursors of the previous one in use, until that is dropped', async () => {
    const before = await signCursor(POSITION, BINDING, [OLD])
    expect(await verifyCursor(before, BINDING, [NEW, OLD])).toEqual(POSITION)
    expect(await verifyCursor(before, BINDING, [NEW])).toBeNull()
  })

  test('signs new cursors with the current one', async () => {
    const after = await signCursor(POSITION, BINDING, [NEW, OLD])
    expect(await verifyCursor(after, BINDING, [NEW])).toEqual(POSITION)
    expect(await verifyCursor(after, BINDING, [OLD])).toBeNull()
  })
})

test('the key of a secret is made once in an isolate, and cannot be taken out of it', async () => {
  const made = vi.spyOn(crypto.subtle, 'importKey')
  const secret = 'a-secret-that-no-other-test-has'
  const cursor = await signCursor(POSITION, BINDING, [secret])
  expect(await verifyCursor(cursor, BINDING, [secret])).toEqual(POSITION)
  expect(made).toHaveBeenCalledTimes(1)
  expect(await made.mock.results[0]?.value).toMatchObject({ extractable: false, usages: ['sign'] })
  made.mockRestore()
})
