import type * as z from 'zod/mini'
import type { Cell } from './db.ts'

/** A row's schema: its fields are the columns that are read, in the order in which they are written. */
export type RowSchema = z.ZodMiniObject

/** The columns of a row. */
export const columnsOf = (row: RowSchema): string[] => Object.keys(row.shape)

/**
 * A function that writes one row's cells as a JSON object. Numbers and booleans are passed on as Postgres wrote them,
 * so that a rate keeps its four decimals and no digit is lost.
 */
export function rowWriter(row: RowSchema): (cells: readonly Cell[]) => string {
  const fields = Object.entries(row.shape).map(([name, field], index) => ({
    label: `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`,
    quoted: isText(field),
  }))
  return (cells) => {
    let json = ''
    for (const [index, { label, quoted }] of fields.entries()) {
      const cell = cells[index] ?? null
      json += label + (quoted && cell !== null ? JSON.stringify(cell) : cell)
    }
    return `${json}}`
  }
}

function isText(field: z.core.$ZodType): boolean {
  const { def } = field._zod
  return isNullable(def) ? isText(def.innerType) : def.type === 'string'
}

const isNullable = (def: z.core.$ZodTypeDef): def is z.core.$ZodNullableDef => def.type === 'nullable'
