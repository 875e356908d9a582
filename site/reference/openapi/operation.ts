import type { Operation } from '../../../lib/page/operation.ts'
import { parameterNames } from '../../../lib/page/request.ts'
import { PAGE_SIZE } from '../../../lib/rows/size.ts'
import { FILE_WRITERS } from '../../../lib/rows/write.ts'
import { anyDay, type NamedOperation } from './days.ts'
import { COMMON_HEADERS, headerReferences } from './headers.ts'
import type { Json } from './json-schema.ts'
import { responseReferences } from './responses.ts'

const ALL = [...COMMON_HEADERS, 'ETag', 'Content-Disposition', 'X-Expected-Rows']
const PAGED = [...ALL, 'Link', 'X-Window', 'X-Data-As-Of']

/** The headers of a 200 response. */
const HEADERS_OF: Record<Operation['kind'], readonly string[]> = {
  brands: ALL,
  metric: PAGED,
  changes: PAGED,
  days: [...COMMON_HEADERS, 'Link', 'X-Data-As-Of'],
}

const ERRORS = ['400', '401', '403', '429', '503']

/** The other statuses of a response. */
const STATUSES_OF: Record<Operation['kind'], readonly string[]> = {
  brands: ['304', ...ERRORS],
  metric: ['304', ...ERRORS, '404'],
  changes: ['304', ...ERRORS, '404'],
  days: [...ERRORS, '404'],
}

/** What a 200 response has. */
const CONTENT_OF: Record<Operation['kind'], string> = {
  brands: 'All rows.',
  metric: 'One page of rows, or all rows as a file.',
  changes: 'One page of rows, or all rows as a file.',
  days: 'One page of days with their rows.',
}

/** The files, by content type. */
const FILES: Record<string, Json> = Object.fromEntries(
  Object.values(FILE_WRITERS).map(({ contentType }) => [
    contentType.replace(/;.*/, ''),
    { schema: { type: 'string' } },
  ]),
)

/** Returns the names of the parameters of an endpoint. Days have no files. */
export const documentedParameters = (kind: Operation['kind']): string[] =>
  parameterNames(kind).filter((name) => kind !== 'days' || name !== 'format')

/** What the operation object of an endpoint refers to; `example` is the body of a 200 response. */
type Context = { readonly paged: readonly NamedOperation[]; readonly example: Json | undefined }

/** Returns the operation object of an endpoint. */
export function describeOperation(operation: NamedOperation, { paged, example }: Context): Json {
  const { summary, description, kind, formula } = operation
  return {
    operationId: operationId(operation),
    tags: ['Export'],
    summary,
    description,
    ...(formula && { 'x-formula': formula }),
    parameters: documentedParameters(kind).map((name) => ({
      $ref: `#/components/parameters/${kind === 'days' && name === 'brandId' ? 'optionalBrandId' : name}`,
    })),
    responses: {
      200: {
        description: CONTENT_OF[kind],
        headers: headerReferences(HEADERS_OF[kind]),
        content: {
          'application/json': {
            schema: bodySchema(operation, paged),
            ...(example !== undefined && { example }),
          },
          ...(kind !== 'days' && FILES),
        },
        links: linksOf(operation, paged),
      },
      ...responseReferences([...STATUSES_OF[kind]].sort()),
    },
  }
}

function bodySchema({ rowName, kind }: NamedOperation, paged: readonly NamedOperation[]): Json {
  const isDays = kind === 'days'
  const items = isDays ? anyDay(paged.filter(isMetric)) : { $ref: `#/components/schemas/${rowName}` }
  if (kind === 'brands') return objectSchema({ data: { type: 'array', items } })
  return objectSchema({
    data: { type: 'array', items, maxItems: PAGE_SIZE },
    pagination: { $ref: `#/components/schemas/${isDays ? 'DaysPagination' : 'Pagination'}` },
    meta: { $ref: `#/components/schemas/${isDays ? 'DaysMeta' : 'Meta'}` },
  })
}

export const isMetric = ({ kind }: Pick<Operation, 'kind'>): boolean => kind === 'metric'

const objectSchema = (properties: Record<string, Json>): Json => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})

/** The operation's identifier in the document, from its path: `citationShare`. */
const operationId = ({ path }: Pick<Operation, 'path'>): string =>
  path.slice(1).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())

/** Returns the links of a 200 response: from a page to the next one, from the brands to each of the `paged` operations. */
function linksOf(operation: Operation, paged: readonly Operation[]): Json {
  if (operation.kind !== 'brands') return { nextPage: nextPage(operation) }
  return Object.fromEntries(
    paged.map((each) => [
      operationId(each),
      {
        operationId: operationId(each),
        description: 'Send the `id` of a brand as `brandId`.',
        parameters: { brandId: '$response.body#/data/0/id' },
      },
    ]),
  )
}

const nextPage = (operation: Operation): Json => ({
  operationId: operationId(operation),
  description:
    'While `hasMore` is true, send `nextCursor` as `cursor` with the other parameters of the request.',
  parameters: {
    ...Object.fromEntries(
      documentedParameters(operation.kind)
        .filter((name) => operation.kind !== 'days' || name !== 'since')
        .map((name) => [name, `$request.query.${name}`]),
    ),
    cursor: '$response.body#/pagination/nextCursor',
  },
})
