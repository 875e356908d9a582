import { InvalidArgumentError } from 'commander'
import * as z from 'zod/mini'

/** Reads an option that is a UUID. */
export function uuid(text: string): string {
  if (z.guid().safeParse(text).success) return text
  throw new InvalidArgumentError('It must be a UUID.')
}

/** Reads an option that is a whole number, at least one. */
export function whole(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number, at least 1.')
}
