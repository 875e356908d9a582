import * as z from 'zod/mini'
import { PAID_PLANS, PLANS } from '../../../lib/access/plans.ts'
import { BASE } from '../../../lib/http/app.ts'
import { RATE_LIMIT } from '../../../lib/limits/token-bucket.ts'
import { CURSOR } from '../../../lib/page/cursor.ts'
import { Parameters } from '../../../lib/page/request.ts'
import { flag, instant, nullable, text, uuid } from '../../../lib/rows/schema.ts'
import { PAGE_SIZE } from '../../../lib/rows/size.ts'
import { DEFAULT_DAYS } from '../../../lib/statement/window.ts'
import { daySchemas, endpointName, type NamedOperation } from './days.ts'
import { HEADERS } from './headers.ts'
import { type Json, jsonSchema } from './json-schema.ts'
import { describeOperation, isMetric } from './operation.ts'
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
  const metrics = operations.filter(isMetric)
  const parameters = Object.fromEntries(
    Object.entries({ ...Parameters.shape, endpoint: endpointParameter(metrics) }).map(([name, schema]) => [
      name,
      parameter(name, schema, examples.parameters[name]),
    ]),
  )
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
        ...parameters,
        optionalBrandId: { ...parameters.brandId, required: false },
      },
      schemas: {
        ...Object.assign({}, ...operations.map((operation) => schemasOf(operation, metrics))),
        Pagination: jsonSchema(Pagination),
        Meta: jsonSchema(Meta),
        DaysPagination: jsonSchema(DaysPagination),
        DaysMeta: jsonSchema(DaysMeta),
        Error: jsonSchema(ErrorBody),
      },
      headers: HEADERS,
      responses: RESPONSES,
    },
  }
}

/** Returns the schemas of what the pages of an operation have, by their names. */
const schemasOf = (
  operation: NamedOperation,
  metrics: readonly NamedOperation[],
): Readonly<Record<string, Json>> =>
  operation.kind === 'days'
    ? daySchemas(operation, metrics)
    : { [operation.rowName]: { ...jsonSchema(operation.row), 'x-primary-key': operation.primaryKey } }

/** Returns the schema of the parameter that names one of the metrics. */
const endpointParameter = (metrics: readonly NamedOperation[]): z.core.$ZodType =>
  z.enum(metrics.map(endpointName)).check(z.meta({ ...z.globalRegistry.get(Parameters.shape.endpoint) }))

function parameter(name: string, schema: z.core.$ZodType, example = ''): { readonly [name: string]: Json } {
  const { description = '', ...rest } = jsonSchema(schema)
  return { name, in: 'query', required: name === 'brandId', description, schema: rest, example }
}

/** The `pagination` member of a page (docs/specification.md, Paging). */
const Pagination = z.object({
  pageSize: z
    .int32()
    .check(z.gte(1), z.meta({ description: `Maximum number of rows per page: ${PAGE_SIZE}.` })),
  hasMore: flag('Whether another page follows.'),
  nextCursor: z
    .nullable(z.string().check(z.regex(new RegExp(`^${CURSOR}$`))))
    .check(z.meta({ description: 'Send it as `cursor` to get the next page. Null on the last page.' })),
})

/** The `meta` member of a page (docs/specification.md, Paging). */
const Meta = z.object({
  brandId: nullable(uuid('The requested brand.')),
  fromDate: instant('Start of the window. Later than requested when the plan limits the window.'),
  toDate: instant(
    'End of the window, inclusive: the last millisecond of `toDate`. Without `toDate` it is the time of the first request, or the end of 9999-12-31 for `/changes`.',
  ),
  plan: z.enum(PAID_PLANS).check(z.meta({ description: "Plan of the key's organization." })),
})

/** The `pagination` member of a page of days (docs/specification.md, Days). */
const DaysPagination = z.extend(Pagination, {
  pageSize: z
    .int32()
    .check(z.gte(1), z.meta({ description: `Maximum number of days per page: ${PAGE_SIZE}.` })),
  hasMore: flag('Whether another page follows at once.'),
  nextCursor: z.string().check(
    z.regex(new RegExp(`^${CURSOR}$`)),
    z.meta({
      description: 'Store it, and send it as `cursor`: at once while `hasMore`, else in the next run.',
    }),
  ),
})

/** The `meta` member of a page of days (docs/specification.md, Days). */
const DaysMeta = z.object({
  brandId: nullable(uuid('The requested brand. Null for every brand that the key can read.')),
  fromDate: instant('First day. Later than requested when the plan reaches back no further.'),
  plan: Meta.shape.plan,
})

/** The body of every error (docs/specification.md, Errors). */
const ErrorBody = z.object({
  error: text('What failed, then what to do. Messages can change: use the status in programs.'),
})

const lookbacks = PAID_PLANS.map((plan) => {
  const days = PLANS[plan].lookbackDays
  return `${days === null ? 'no limit' : `${days} days`} (${plan})`
})

/** The description of the whole API. Blank lines separate its paragraphs. */
const INTRODUCTION = `Send your API key in the \`X-API-Key\` header. Start with \`/brands\`: metrics require a \`brandId\` from its
response.

Metrics and \`/changes\` return pages of up to ${PAGE_SIZE} rows, and fewer when these are large. To get all rows, send
\`pagination.nextCursor\` as \`cursor\` until \`hasMore\` is false. Keep the other parameters the same for all pages. \`format=csv\` and \`format=ndjson\`
return all rows of a window as one file instead.

Metrics cover counted answers: answers without an error, to prompts that are not retired and that count in metrics.
To compute a rate for a period, sum the counts, then divide. The average of daily rates is a different number.

Dates are UTC days. Without \`fromDate\`, the window of a metric starts ${DEFAULT_DAYS} days before today. Your plan limits
how far back a window reaches: ${lookbacks.join(', ')}. The rate limit is ${RATE_LIMIT.requests}
requests, refilled by ${RATE_LIMIT.refill.requests} every ${RATE_LIMIT.refill.seconds} seconds, across all endpoints.

Late data and edits can change days you have already loaded, however old. To keep a copy exact, read \`/days\`: all days the first
time, then those that changed since, of all metrics and brands. Replace days whole, because a row can disappear. The fields in
\`x-primary-key\` identify a row, within its brand. They compare by code point.`
