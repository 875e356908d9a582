import { randomBytes } from 'node:crypto'

/** A secret that is nowhere else, of letters that every encoding is sure to change. */
export const mark = (name: string): string => `${name}-${randomBytes(12).toString('hex')}`

/** A secret as it stands in a text: plain, in hex, or in base64 wherever it begins there. */
function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const shifted = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64url')
    // The characters at both ends are shared with the neighbours of the secret.
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
  })
  return [
    secret,
    bytes.toString('hex'),
    ...shifted,
    encodeURIComponent(secret),
    [...secret].reverse().join(''),
  ]
}

/** Returns the names of the secrets in a text, in any spelling. */
export function leaks(text: string, secrets: Readonly<Record<string, string>>): string[] {
  const plain = text.toLowerCase()
  const base64 = plain.replaceAll('+', '-').replaceAll('/', '_')
  return Object.entries(secrets)
    .filter(([, secret]) =>
      spellings(secret).some((each) => [plain, base64].some((where) => where.includes(each.toLowerCase()))),
    )
    .map(([name]) => name)
}
