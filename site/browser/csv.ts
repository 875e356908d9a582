const QUOTE = 0x22
const LINE_FEED = 0x0a

/** Returns a function that counts the rows of a CSV file from its chunks: line feeds outside quotes after the header. */
export function rowCounter(): (chunk: Uint8Array) => number {
  let lines = 0
  let isQuoted = false
  return (chunk) => {
    for (const byte of chunk) {
      if (byte === QUOTE) isQuoted = !isQuoted
      else if (byte === LINE_FEED && !isQuoted) lines += 1
    }
    return Math.max(0, lines - 1)
  }
}
