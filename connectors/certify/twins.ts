/** Ends of texts. Some loader takes two of them for the same, or changes one. */
const ENDS = [
  ...['', ' ', '\t', '/', '\n', '\r\n', '\u200b', '\ufeff', '😀', '\u0001'],
  ...[' b', '  b', '\u00a0b', "'b'", '’b’', 'fi', 'ﬁ', 'I', 'i', 'ı', '%41', 'A', '&', '&amp;', '\\n'],
]

/**
 * Returns texts that differ only by case, blanks, scheme, query, fragment, encoding or invisible characters, or after
 * `length` characters.
 */
export const twins = (text: string, length: number): string[] => [
  ...ENDS.map((end) => text + end),
  text.toUpperCase(),
  ` ${text}`,
  text.normalize('NFD'),
  ...['http://', 'https://'].map((scheme) => `${scheme}${text}.example/`),
  ...['', '?a=1', '?a=1&b=2', '?b=2&a=1', '#a'].map((end) => `${text}.example${end}`),
  ...['a', 'b'].map((end) => text.padEnd(length, '.') + end),
]
