/** Returns texts that differ only by case, blanks, a final slash or normal form, or after `length` characters. */
export const twins = (text: string, length: number): string[] => [
  text,
  text.toUpperCase(),
  ` ${text}`,
  `${text} `,
  `${text}\t`,
  `${text}/`,
  text.normalize('NFD'),
  ...['a', 'b'].map((end) => text.padEnd(length, '.') + end),
]
