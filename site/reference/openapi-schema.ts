import * as z from 'zod/mini'

/** The schema of a field or a parameter: the members that the page shows. */
export const Schema = z.object({
  type: z.union([z.string(), z.tuple([z.string(), z.literal('null')])]),
  format: z.optional(z.string()),
  description: z.optional(z.string()),
  'x-aggregation': z.optional(z.string()),
})

const Reference = z.object({ $ref: z.string() })

const Terms = z.array(z.union([z.string(), z.object({ rate: z.string(), of: z.string() })]))

const Formula = z.object({
  part: Terms,
  whole: Terms,
  per: z.exactOptional(z.string()),
  breakdown: z.exactOptional(z.string()),
})

const Operation = z.object({
  summary: z.string(),
  description: z.string(),
  'x-formula': z.optional(Formula),
  parameters: z.optional(z.array(Reference)),
  responses: z.record(z.string(), z.unknown()),
})

/** The schema of a row: its fields by name, and those that identify it within its brand. */
export const RowSchema = z.object({
  properties: z.record(z.string(), Schema),
  'x-primary-key': z.array(z.string()),
})

/** The rows of a response: of one schema, or of one for each metric. */
const Rows = z.union([Reference, z.object({ oneOf: z.tuple([Reference], Reference) })])

/** A 200 response: the schema of its rows, and an example. */
export const SuccessResponse = z.object({
  content: z.object({
    'application/json': z.object({
      schema: z.object({ properties: z.object({ data: z.object({ items: Rows }) }) }),
      example: z.unknown(),
    }),
  }),
})

/** The OpenAPI document in the form that `site/reference/openapi/` writes. */
export const OpenApiDocument = z.object({
  info: z.object({ title: z.string(), version: z.string(), summary: z.string(), description: z.string() }),
  externalDocs: z.object({ description: z.string() }),
  paths: z.record(z.string(), z.object({ get: Operation })),
  components: z.object({
    securitySchemes: z.object({ ApiKey: z.object({ name: z.string(), description: z.string() }) }),
    parameters: z.record(
      z.string(),
      z.object({
        name: z.string(),
        required: z.boolean(),
        description: z.string(),
        schema: Schema,
        example: z.string(),
      }),
    ),
    schemas: z.record(z.string(), z.unknown()),
    headers: z.record(z.string(), z.object({ description: z.string() })),
  }),
})
