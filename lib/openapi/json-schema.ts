import * as z from 'zod/mini'
import type { Json } from './parts.ts'

/** A zod schema as JSON Schema: formats without the patterns that repeat them, integers without JavaScript's bounds. */
export function jsonSchema(schema: z.core.$ZodType): { readonly [name: string]: Json } {
  const { $schema, ...json } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema: each }) => {
      if (each.format !== undefined) delete each.pattern
      if (each.maximum === Number.MAX_SAFE_INTEGER) delete each.maximum
      if (each.type === 'object') each.additionalProperties = false
    },
  })
  return JSON.parse(JSON.stringify(json))
}
