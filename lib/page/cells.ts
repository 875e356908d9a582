import type { Cell } from '../db.ts'

/** Returns a cell that must have a value; throws `TypeError` when it is null or missing. */
export function required(cell: Cell | undefined): string {
  if (cell == null) throw new TypeError('A cell is missing')
  return cell
}

/** Returns a cell as a count; throws `TypeError` when it is not a whole number. */
export function toCount(cell: Cell | undefined): number {
  const digits = required(cell)
  if (!/^\d+$/.test(digits)) throw new TypeError('Not a count')
  return Number(digits)
}

/** Returns a cell as a boolean; throws `TypeError` when it is not one. */
export function toFlag(cell: Cell | undefined): boolean {
  if (cell !== 'true' && cell !== 'false') throw new TypeError('Not a boolean')
  return cell === 'true'
}
