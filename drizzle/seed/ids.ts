import { createHash } from 'node:crypto'

/** Returns the same UUID for the same words. Its version is 3, so that strict clients accept it. */
export function demoId(...words: readonly string[]): string {
  const hex = createHash('md5')
    .update(`export-api demo ${words.join(' ')}`)
    .digest('hex')
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) % 4)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `3${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join('-')
}
