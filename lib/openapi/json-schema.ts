import * as z from 'zod/mini'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** Converts a zod schema to JSON Schema, without patterns that repeat a format and without JavaScript's integer bounds. */
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
