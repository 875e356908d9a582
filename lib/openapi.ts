import * as z from 'zod/mini'
import { BASE } from './endpoint.ts'
import { ERRORS } from './errors.ts'
import type { Operation } from './operation.ts'
import { PAGE_SIZE } from './page.ts'
import { Parameters } from './parameters.ts'
import { PLANS } from './plans.ts'
import { BUDGET } from './rate-limit.ts'
import { DEFAULT_DAYS } from './window.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** Version of the API's description, and of the path (specification, section 9). */
export const VERSION = '1.0.0'

const Pagination = z.object({
  pageSize: z.literal(PAGE_SIZE).check(z.meta({ description: 'Rows of a full page.' })),
  hasMore: z.boolean().check(z.meta({ description: 'Whether another page follows.' })),
  nextCursor: z
    .nullable(z.string())
    .check(z.meta({ description: 'The `cursor` of the next page, opaque; null on the last page.' })),
})

const Meta = z.object({
  brandId: z.guid().check(z.meta({ description: 'The brand that was read.' })),
  fromDate: z.iso.datetime({ precision: 3 }).check(
    z.meta({
      description: 'Start of the window actually read; later than requested when the plan moved it.',
    }),
  ),
  toDate: z.iso.datetime({ precision: 3 }).check(
    z.meta({
      description:
        'Inclusive end of the window: the last millisecond of `toDate`, or the time of the first request.',
    }),
  ),
  plan: z
    .enum(['pro', 'agency', 'enterprise'])
    .check(z.meta({ description: "Plan of the key's organization." })),
})

const ErrorBody = z.object({
  error: z.string().check(z.meta({ description: 'What was wrong, in a sentence.' })),
})

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
          headers: headers([...BUDGET_HEADERS, 'ETag']),
        },
        ...Object.fromEntries(
          Object.entries(REFUSALS).map(([status, refusal]) => [status, errorResponse(refusal)]),
        ),
      },
    },
  }
}

const ABOUT = `Start with the brands listing: every other endpoint takes a \`brandId\` from it. Follow \`pagination.nextCursor\`
until \`hasMore\` is false, and keep the other parameters as they are meanwhile. Rows are meant to be added up: averaging
daily rates gives another number than the formula of an endpoint.

The last ${DEFAULT_DAYS} days are read when no window is given. A window reaches back
${Object.entries(PLANS)
  .filter(([, { keys }]) => keys > 0)
  .map(
    ([plan, { lookbackDays }]) =>
      `${lookbackDays === null ? 'without limit' : `${lookbackDays} days`} (${plan})`,
  )
  .join(', ')}; an earlier start is moved up without an error. ${BUDGET.requests} requests pass in each clock
minute, over all endpoints together.

For a first load, ask for one month at a time; afterwards pull the last few days each day, from the day after
\`X-Data-Settled-Through\` on.`

const HEADERS: Record<string, Json> = {
  'RateLimit-Policy': {
    description: 'The budget: requests `q` in each window of `w` seconds.',
    schema: { type: 'string' },
    example: `"default";q=${BUDGET.requests};w=${BUDGET.seconds}`,
  },
  RateLimit: {
    description:
      'What is left of the budget: `r` requests, whole again in `t` seconds. Absent while the counter is away.',
    schema: { type: 'string' },
    example: '"default";r=97;t=42',
  },
  'Retry-After': {
    description: 'Seconds to wait before the request is sent again.',
    schema: { type: 'integer' },
  },
  ETag: {
    description:
      'Names this very answer. Absent on a page whose window is open, that is one that reaches to today or further.',
    schema: { type: 'string' },
    example: '"4b9e9d1a6f8e0c2d7a3b5c1e9f0d8a76"',
  },
  Link: {
    description: 'Address of the next page, with `rel="next"`; absent on the last one.',
    schema: { type: 'string' },
  },
  'X-Data-Settled-Through': {
    description:
      'Last day of the window (UTC) up to which every row is up to date: nothing before the day after it waits to be computed anew. Absent when no day of the window is.',
    schema: { type: 'string', format: 'date' },
  },
}

type RefusalAnswer = {
  readonly description: string
  readonly sentence: string
  readonly headers?: readonly string[]
}

const BUDGET_HEADERS = ['RateLimit-Policy', 'RateLimit']

const REFUSALS: Record<string, RefusalAnswer> = {
  400: { description: 'A parameter is missing or malformed.', sentence: 'The parameter brandId is missing.' },
  401: {
    description:
      'The key is missing, unknown, revoked, expired or of another kind, or its creator is no longer owner or admin.',
    sentence: ERRORS.key[1],
  },
  403: {
    description: 'The organization has no active plan that includes the API.',
    sentence: ERRORS.plan[1],
  },
  404: {
    description: 'The key cannot read such a brand; whether it exists elsewhere is not told.',
    sentence: ERRORS.brand[1],
  },
  429: { description: 'The rate budget is used up.', sentence: ERRORS.budget[1], headers: ['Retry-After'] },
  503: {
    description: 'The data cannot be read right now; send the request again.',
    sentence: ERRORS.database[1],
    headers: ['Retry-After'],
  },
}

const PAGED_REFUSALS = ['400', '401', '403', '404', '429', '503']
const LISTING_REFUSALS = ['401', '403', '429', '503']

function describe(operation: NamedOperation, example: Json | undefined): Json {
  const { path, summary, description, paged } = operation
  return {
    operationId: path.slice(1).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
    tags: ['Export'],
    summary,
    description,
    ...(paged && {
      parameters: Object.keys(Parameters.shape).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    }),
    responses: {
      200: {
        description: paged ? 'A page of rows.' : 'All rows.',
        headers: headers([...BUDGET_HEADERS, 'ETag', ...(paged ? ['Link', 'X-Data-Settled-Through'] : [])]),
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
    headers: headers([...BUDGET_HEADERS, ...own]),
    content: {
      'application/json': { schema: { $ref: '#/components/schemas/Error' }, example: { error: sentence } },
    },
  }
}

const headers = (names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

function parameter(name: string, schema: z.core.$ZodType): Json {
  const { description = '', ...rest } = jsonSchema(schema)
  return { name, in: 'query', required: name === 'brandId', description, schema: rest }
}

/** A zod schema as JSON Schema: formats without the patterns that repeat them, integers without JavaScript's bounds. */
function jsonSchema(schema: z.core.$ZodType): { readonly [name: string]: Json } {
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
