/**
 * Returns a function that makes a message of a text of others: without the key in any case or percent-encoding, without
 * control characters, and of at most 1,000 characters.
 */
export function messageMaker(key: string): (text: string) => string {
  // Nothing, without a key.
  const pattern = new RegExp(key.replace(/\W/g, '\\$&') || '(?!)', 'gi')
  return (text) =>
    text
      .replace(/%[2-7][\da-f]/gi, decodeURIComponent)
      .replace(pattern, '<API key>')
      .replace(/\p{Cc}/gu, ' ')
      .slice(0, MOST_CHARACTERS)
}

const MOST_CHARACTERS = 1000
