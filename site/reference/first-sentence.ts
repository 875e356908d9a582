/** Returns the first sentence of a description, on one line. */
export const firstSentence = (description: string): string =>
  (/^.*?\.(?=\s|$)/s.exec(description)?.[0] ?? '').replaceAll('\n', ' ')
