import { demoId } from '../../drizzle/seed/ids.ts'

/** Returns the same UUID for the same words and numbers. */
export const fixedId = (...words: readonly (string | number)[]): string =>
  demoId('certify', ...words.map(String))
