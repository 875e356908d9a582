import * as z from 'zod/mini'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/**
 * Converts a zod schema to JSON Schema, without patterns that repeat a format, and without the rule that names are
 * strings. A nullable schema gets a list of types: loaders that infer columns read `anyOf` as text.
 */
export function jsonSchema(schema: z.core.$ZodType): { readonly [name: string]: Json } {
  const { $schema, ...json } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema: each }) => {
      if (each.format !== undefined) delete each.pattern
      delete each.propertyNames
      if (Number.isInteger(each.const)) each.type = 'integer'
      mergeNull(each)
    },
  })
  return JSON.parse(JSON.stringify(json))
}

/** Replaces `anyOf` of a type and null by a list of both types. */
function mergeNull(schema: z.core.JSONSchema.BaseSchema): void {
  const { anyOf: [value, other] = [], ...rest } = schema
  if (value === undefined || other?.type !== 'null') return
  delete schema.anyOf
  Object.assign(schema, value, rest, { type: [value.type, 'null'] })
  if (value.enum !== undefined) schema.enum = [...value.enum, null]
}
