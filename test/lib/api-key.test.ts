import { expect, test } from 'vitest'
import { isApiKey, mintApiKey, sha256, sha256Bytes } from '../../lib/api-key.ts'

const DIGITS = '0123456789abcdef'.repeat(4)

test('a key is svc_live_ and 64 lowercase hexadecimal characters', () => {
  expect(isApiKey(`svc_live_${DIGITS}`)).toBe(true)
  for (const other of [
    '',
    DIGITS,
    `svc_live_${DIGITS.slice(1)}`,
    `svc_live_${DIGITS}0`,
    `svc_live_${DIGITS.toUpperCase()}`,
    `SVC_LIVE_${DIGITS}`,
    `svc_test_${DIGITS}`,
    ` svc_live_${DIGITS}`,
    `svc_live_${DIGITS} `,
    `svc_live_${DIGITS}\n`,
    `svc_live_${DIGITS.slice(1)}g`,
  ]) {
    expect(isApiKey(other), JSON.stringify(other)).toBe(false)
  }
})

test('every new key has that form and is another one', () => {
  const keys = Array.from({ length: 50 }, mintApiKey)
  expect(keys.filter(isApiKey)).toHaveLength(50)
  expect(new Set(keys).size).toBe(50)
})

test('a hash is SHA-256, as hexadecimal text or as 32 bytes', async () => {
  const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
  expect(await sha256('')).toBe(empty)
  expect(await sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  expect(Buffer.from(await sha256Bytes('')).toString('hex')).toBe(empty)
})
