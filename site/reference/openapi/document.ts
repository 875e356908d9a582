import type * as z from 'zod/mini'
import { BASE } from '../../../lib/http/app.ts'
import { Parameters } from '../../../lib/page/parameters.ts'
import { ErrorBody, Meta, Pagination } from './envelope.ts'
import { HEADERS } from './headers.ts'
import { INTRODUCTION } from './introduction.ts'
import { type Json, jsonSchema } from './json-schema.ts'
import { describeOperation, type NamedOperation } from './operation.ts'
import { RESPONSES } from './responses.ts'

/** Version of the OpenAPI document (docs/specification.md, Versions). */
const VERSION = '1.0.0'

/** Examples of parameters by name, and of the bodies of 200 responses by path. */
type Examples = {
  readonly parameters: Readonly<Record<string, string>>
  readonly bodies: Readonly<Record<string, Json>>
}

/** Builds the OpenAPI 3.1 document of these operations. */
export function openapi(operations: readonly NamedOperation[], examples: Examples): Json {
  const paged = operations.filter(({ kind }) => kind !== 'brands')
  return {
    openapi: '3.1.0',
    info: {
      title: 'Export API',
      version: VERSION,
      summary: "Read-only access to a brand's AI-visibility data, as JSON pages.",
      description: INTRODUCTION,
      contact: { name: 'The operator of this service' },
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    externalDocs: { url: `${BASE}/docs`, description: 'Reference page with code samples and request forms.' },
    servers: [{ url: '/' }],
    security: [{ ApiKey: [] }],
    tags: [{ name: 'Export', description: 'The data that an API key can read.' }],
    paths: Object.fromEntries(
      operations.map((operation) => [
        BASE + operation.path,
        { get: describeOperation(operation, { paged, example: examples.bodies[operation.path] }) },
      ]),
    ),
    components: {
      securitySchemes: {
        ApiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description:
            'An export API key: `svc_live_` followed by 64 hexadecimal digits. Ask your administrator for one.',
        },
      },
      parameters: {
        ...Object.fromEntries(
          Object.entries(Parameters.shape).map(([name, schema]) => [
            name,
            parameter(name, schema, examples.parameters[name]),
          ]),
        ),
        optionalBrandId: {
          ...parameter('brandId', Parameters.shape.brandId, examples.parameters.brandId),
          required: false,
        },
      },
      schemas: {
        ...Object.fromEntries(
          operations.map(({ rowName, row, primaryKey }) => [
            rowName,
            { ...jsonSchema(row), 'x-primary-key': primaryKey },
          ]),
        ),
        Pagination: jsonSchema(Pagination),
        Meta: jsonSchema(Meta),
        Error: jsonSchema(ErrorBody),
      },
      headers: HEADERS,
      responses: RESPONSES,
    },
  }
}

function parameter(name: string, schema: z.core.$ZodType, example = ''): { readonly [name: string]: Json } {
  const { description = '', ...rest } = jsonSchema(schema)
  return { name, in: 'query', required: name === 'brandId', description, schema: rest, example }
}
