import { InvalidArgumentError } from 'commander'
import * as z from 'zod/mini'

/** Parses an option that is a UUID. */
export function uuid(text: string): string {
  if (z.guid().safeParse(text).success) return text
  throw new InvalidArgumentError('Use a UUID.')
}

/** Parses an option that is a whole number of at least 1. */
export function whole(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Use a whole number of at least 1.')
}
