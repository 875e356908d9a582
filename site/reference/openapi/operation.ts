import type { Operation } from '../../../lib/page/operation.ts'
import { parameterNames } from '../../../lib/page/request.ts'
import { PAGE_SIZE } from '../../../lib/rows/size.ts'
import { FILE_WRITERS } from '../../../lib/rows/write.ts'
import { COMMON_HEADERS, headerReferences } from './headers.ts'
import type { Json } from './json-schema.ts'
import { responseReferences } from './responses.ts'

/** An operation, and the name under which its file exports the schema of its row. */
export type NamedOperation = Operation & { readonly rowName: string }

const ALL = [...COMMON_HEADERS, 'ETag', 'Content-Disposition', 'X-Expected-Rows']
const PAGED = [...ALL, 'Link', 'X-Window', 'X-Data-As-Of']

/** The headers of a 200 response. */
const HEADERS_OF: Record<Operation['kind'], readonly string[]> = {
  brands: [...ALL, 'X-Brands-Digest'],
  metric: PAGED,
  changes: [...PAGED, 'X-Brands-Digest'],
}

const STATUSES = ['304', '400', '401', '403', '429', '503']

/** The files, by content type. */
const FILES: Record<string, Json> = Object.fromEntries(
  Object.values(FILE_WRITERS).map(({ contentType }) => [
    contentType.replace(/;.*/, ''),
    { schema: { type: 'string' } },
  ]),
)

/** What the operation object of an endpoint refers to; `example` is the body of a 200 response. */
type Context = { readonly paged: readonly NamedOperation[]; readonly example: Json | undefined }

/** Returns the operation object of an endpoint. */
export function describeOperation(operation: NamedOperation, { paged, example }: Context): Json {
  const { summary, description, kind, formula } = operation
  const statuses = kind === 'brands' ? STATUSES : [...STATUSES, '404'].sort()
  return {
    operationId: operationId(operation),
    tags: ['Export'],
    summary,
    description,
    ...(formula && { 'x-formula': formula }),
    parameters: parameterNames(kind).map((name) => ({
      $ref: `#/components/parameters/${kind === 'changes' && name === 'brandId' ? 'optionalBrandId' : name}`,
    })),
    responses: {
      200: {
        description: kind === 'brands' ? 'All rows.' : 'One page of rows, or all rows as a file.',
        headers: headerReferences(HEADERS_OF[kind]),
        content: {
          'application/json': { schema: bodySchema(operation), ...(example !== undefined && { example }) },
          ...FILES,
        },
        links: linksOf(operation, paged),
      },
      ...responseReferences(statuses),
    },
  }
}

function bodySchema({ rowName, kind }: NamedOperation): Json {
  const data = { type: 'array', items: { $ref: `#/components/schemas/${rowName}` } }
  if (kind === 'brands') return objectSchema({ data })
  return objectSchema({
    data: { ...data, maxItems: PAGE_SIZE },
    pagination: { $ref: '#/components/schemas/Pagination' },
    meta: { $ref: '#/components/schemas/Meta' },
  })
}

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
    ...Object.fromEntries(parameterNames(operation.kind).map((name) => [name, `$request.query.${name}`])),
    cursor: '$response.body#/pagination/nextCursor',
  },
})
