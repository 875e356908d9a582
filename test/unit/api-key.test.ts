import { readFile } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { DEMO } from '../../drizzle/seed/demo.ts'
import { hasChecksum, KEY_PATTERN, mintApiKey, readApiKey } from '../../lib/request/api-key.ts'
import { sha256, sha256Bytes } from '../../lib/request/hash.ts'

// zlib's crc32 of the characters before the last eight digits.
const VECTORS = [
  'svc_live_0123456789abcdef0123456789abcdef0123456789abcdef0123456736f1a9d9',
  'svc_live_00000000000000000000000000000000000000000000000000000000e1f3fc7e',
  'svc_live_ffffffffffffffffffffffffffffffffffffffffffffffffffffffff26a4dd54',
]

const DIGITS = '0123456789abcdef'.repeat(4)

test('a key is svc_live_ and 64 lowercase hexadecimal characters, with spaces and tabs around it', () => {
  const key = `svc_live_${DIGITS}`
  for (const field of [key, ` ${key}`, `${key} `, `\t  ${key} \t`]) expect(readApiKey(field)).toBe(key)
  for (const other of [
    '',
    DIGITS,
    `svc_live_${DIGITS.slice(1)}`,
    `svc_live_${DIGITS}0`,
    `svc_live_${DIGITS.toUpperCase()}`,
    `SVC_LIVE_${DIGITS}`,
    `svc_test_${DIGITS}`,
    `svc_live_ ${DIGITS}`,
    `svc_live_${DIGITS}\n`,
    `\u00a0svc_live_${DIGITS}`,
    `svc_live_${DIGITS}, svc_live_${DIGITS}`,
    `svc_live_${DIGITS.slice(1)}g`,
  ]) {
    expect(readApiKey(other), JSON.stringify(other)).toBeNull()
  }
})

test('every new key has that form, is another one, and ends in the checksum of what precedes it', () => {
  const keys = Array.from({ length: 200 }, mintApiKey)
  expect(new Set(keys.map(readApiKey)).size).toBe(200)
  expect(keys.map(readApiKey)).toEqual(keys)
  for (const key of keys) expect(Number.parseInt(key.slice(-8), 16)).toBe(crc32(key.slice(0, -8)))
  expect(keys.every(hasChecksum)).toBe(true)
})

test('a checksum is CRC-32, and any one digit that is exchanged is noticed', () => {
  for (const key of VECTORS) {
    expect(hasChecksum(key), key).toBe(true)
    for (let at = 'svc_live_'.length; at < key.length; at += 1) {
      const digit = key[at] === '0' ? '1' : '0'
      expect(hasChecksum(key.slice(0, at) + digit + key.slice(at + 1)), `at ${at}`).toBe(false)
    }
  }
})

test('a key without a checksum is a key, and text of another form has none', () => {
  const old = `svc_live_${DIGITS}`
  expect([readApiKey(old), hasChecksum(old)]).toEqual([old, false])
  for (const { key } of DEMO.keys) expect([readApiKey(key), hasChecksum(key)]).toEqual([key, false])
  for (const key of VECTORS) {
    for (const other of ['', key.toUpperCase(), ` ${key}`, key.slice(9), `${key}0`, key.slice(0, -1)]) {
      expect(hasChecksum(other), other).toBe(false)
    }
  }
})

test('docs/keys.md gives scanners the pattern of the keys', async () => {
  const guide = await readFile(new URL('../../docs/keys.md', import.meta.url), 'utf8')
  expect(guide).toContain(`\\b${KEY_PATTERN}\\b`)
  const pattern = new RegExp(`\\b${KEY_PATTERN}\\b`, 'g')
  const text = `KEY=${VECTORS[0]}\n"${VECTORS[1]}",${VECTORS[2]}0 not_${VECTORS[2]} https://x/?k=${VECTORS[2]}&a=b`
  expect(text.match(pattern)).toEqual(VECTORS)
})

test('a hash is SHA-256, as hexadecimal text or as 32 bytes', async () => {
  const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
  expect(await sha256('')).toBe(empty)
  expect(await sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  expect(Buffer.from(await sha256Bytes('')).toString('hex')).toBe(empty)
})
