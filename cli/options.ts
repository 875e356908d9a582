import { InvalidArgumentError } from 'commander'
import * as z from 'zod/mini'

/** Reads an option that is a UUID. */
export function uuid(text: string): string {
  if (z.guid().safeParse(text).success) return text
  throw new InvalidArgumentError('It must be a UUID.')
}
