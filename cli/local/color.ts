import { styleText } from 'node:util'

/** Colors a text where standard output is a terminal with colors; `NO_COLOR` switches them off. */
export const color = (format: Parameters<typeof styleText>[0], text: string): string =>
  process.stdout.isTTY && process.stdout.hasColors() ? styleText(format, text) : text
