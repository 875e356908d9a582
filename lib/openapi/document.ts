import type * as z from 'zod/mini'
import { BASE } from '../app.ts'
import type { Operation } from '../operation.ts'
import { PAGE_SIZE } from '../page.ts'
import { Parameters } from '../parameters.ts'
import { ErrorBody, Meta, Pagination } from './envelope.ts'
import { jsonSchema } from './json-schema.ts'
import {
  ABOUT,
  ANNOUNCEMENT,
  COMMON_HEADERS,
  HEADERS,
  type Json,
  REFUSALS,
  type RefusalAnswer,
} from './parts.ts'

/** Version of the API's description, and of the path (specification, section 9). */
export const VERSION = '1.0.0'

/** An operation with the name under which its row's schema is exported. */
export type NamedOperation = Operation & { readonly rowName: string }

/** The OpenAPI 3.1 document of these operations; `examples` holds a real answer by path. */
export function openapi(
  operations: readonly NamedOperation[],
  examples: Readonly<Record<string, Json>>,
): Json {
  const rows = Object.fromEntries(
    operations.map((operation) => [operation.rowName, jsonSchema(operation.row)]),
  )
  return {
    openapi: '3.1.0',
    info: {
      title: 'Export API',
      version: VERSION,
      summary: "Read-only access to a brand's AI-visibility data, as JSON pages.",
      description: ABOUT,
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    externalDocs: { url: `${BASE}/docs`, description: 'The same as a page, with requests to try and code.' },
    servers: [{ url: '/' }],
    security: [{ ApiKey: [] }],
    tags: [{ name: 'Export', description: 'What a key can read.' }],
    paths: {
      ...Object.fromEntries(
        operations.map((operation) => [
          BASE + operation.path,
          { get: describe(operation, examples[operation.path]) },
        ]),
      ),
    },
    components: {
      securitySchemes: {
        ApiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description:
            'An export key: `svc_live_` and 64 hexadecimal digits, made in the settings of the application.',
        },
      },
      parameters: Object.fromEntries(
        Object.entries(Parameters.shape).map(([name, schema]) => [name, parameter(name, schema)]),
      ),
      schemas: {
        ...rows,
        Pagination: jsonSchema(Pagination),
        Meta: jsonSchema(Meta),
        Error: jsonSchema(ErrorBody),
      },
      headers: HEADERS,
      responses: {
        304: {
          description: 'The caller holds this very answer: its `ETag` was sent in `If-None-Match`.',
          headers: headers([...COMMON_HEADERS, 'ETag']),
        },
        ...Object.fromEntries(
          Object.entries(REFUSALS).map(([status, refusal]) => [status, errorResponse(refusal)]),
        ),
      },
    },
  }
}

const PAGED_REFUSALS = ['400', '401', '403', '404', '429', '503']
const LISTING_REFUSALS = ['401', '403', '429', '503']

function describe(operation: NamedOperation, example: Json | undefined): Json {
  const { path, summary, description, paged, formula, deprecated } = operation
  return {
    operationId: path.slice(1).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
    tags: ['Export'],
    summary,
    description,
    ...(formula && { 'x-formula': formula }),
    ...(deprecated && { deprecated: true }),
    ...(paged && {
      parameters: Object.keys(Parameters.shape).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    }),
    responses: {
      200: {
        description: paged ? 'A page of rows.' : 'All rows.',
        headers: {
          ...headers([...COMMON_HEADERS, 'ETag', ...(paged ? ['Link', 'X-Data-Settled-Through'] : [])]),
          ...(deprecated && ANNOUNCEMENT),
        },
        content: {
          'application/json': { schema: answerSchema(operation), ...(example !== undefined && { example }) },
        },
      },
      304: { $ref: '#/components/responses/304' },
      ...Object.fromEntries(
        (paged ? PAGED_REFUSALS : LISTING_REFUSALS).map((status) => [
          status,
          { $ref: `#/components/responses/${status}` },
        ]),
      ),
    },
  }
}

function answerSchema(operation: NamedOperation): Json {
  const data = { type: 'array', items: { $ref: `#/components/schemas/${operation.rowName}` } }
  if (!operation.paged) return object({ data })
  return object({
    data: { ...data, maxItems: PAGE_SIZE },
    pagination: { $ref: '#/components/schemas/Pagination' },
    meta: { $ref: '#/components/schemas/Meta' },
  })
}

const object = (properties: Record<string, Json>): Json => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

function errorResponse({ description, sentence, headers: own = [] }: RefusalAnswer): Json {
  return {
    description,
    headers: headers([...COMMON_HEADERS, ...own]),
    content: {
      'application/json': { schema: { $ref: '#/components/schemas/Error' }, example: { error: sentence } },
    },
  }
}

const headers = (names: readonly string[]): Record<string, Json> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

function parameter(name: string, schema: z.core.$ZodType): Json {
  const { description = '', ...rest } = jsonSchema(schema)
  return { name, in: 'query', required: name === 'brandId', description, schema: rest }
}
