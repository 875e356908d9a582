import * as z from 'zod/mini'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/**
 * Converts a zod schema to JSON Schema, without patterns that repeat a format, and without the rule that names are
 * strings. A nullable schema gets a list of types: loaders that infer columns read `anyOf` as text. Numbers have a format:
 * generated clients would otherwise read them in 32 bits, which loses digits of weights.
 */
export function jsonSchema(schema: z.core.$ZodType): { readonly [name: string]: Json } {
  const { $schema, ...json } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema: each }) => {
      if (each.format !== undefined) delete each.pattern
      delete each.propertyNames
      if (each.type === 'number') each.format = 'double'
      if (each.type === 'integer') each.format = 'int64'
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
