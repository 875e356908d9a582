import { expect, test } from 'vitest'
import { isSigned, urlSigner } from '../../lib/share/signed-url.ts'

const ID = '11111111-1111-4111-8111-111111111111'
const NOW = new Date('2026-11-22T04:31:07.900Z')
const NEW = 'the-new-secret-of-tests'
const OLD = 'the-old-secret-of-tests'

const urls = urlSigner({ origin: 'https://api.example.com', now: NOW, seconds: 900, secrets: [NEW] })
const url = new URL(await urls.sign(ID))

const isValid = ({
  id = ID,
  search = url.search,
  now = NOW,
  secrets = [NEW] as [string, ...string[]],
} = {}) => isSigned(id, new URLSearchParams(search), { now, secrets })

const after = (seconds: number) => new Date(NOW.getTime() + seconds * 1000)

test('the URL of a file is valid for its seconds', async () => {
  expect(url.origin + url.pathname).toBe(`https://api.example.com/api/sharing/v1/objects/${ID}.parquet`)
  expect(new Date(urls.expirationTimestamp).toISOString()).toBe('2026-11-22T04:46:07.000Z')
  expect(await isValid()).toBe(true)
  expect(await isValid({ now: after(899) })).toBe(true)
  expect(await isValid({ now: after(900) })).toBe(false)
})

test('the URL of a file is valid with the previous secret, and no other', async () => {
  expect(await isValid({ secrets: [OLD, NEW] })).toBe(true)
  expect(await isValid({ secrets: [OLD] })).toBe(false)
})

test('the URL of a file is valid unaltered only', async () => {
  expect(await isValid({ id: ID.replace('1', '2') })).toBe(false)
  const expires = url.searchParams.get('expires') ?? ''
  const signature = url.searchParams.get('signature') ?? ''
  for (const other of [String(Number(expires) + 1), `0${expires}`, ''])
    expect(await isValid({ search: `expires=${other}&signature=${signature}` }), other).toBe(false)
  // Every other last character: it carries bits that decoding drops.
  const start = signature.slice(0, -1)
  for (const other of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')
    if (start + other !== signature)
      expect(await isValid({ search: `expires=${expires}&signature=${start}${other}` })).toBe(false)
  for (const altered of ['', signature.slice(1), `${signature}A`, `${signature}==`])
    expect(await isValid({ search: `expires=${expires}&signature=${altered}` }), altered).toBe(false)
  expect(await isValid({ search: '' })).toBe(false)
})
