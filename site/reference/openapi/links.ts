import type { Operation } from '../../../lib/page/operation.ts'
import { parameterNames } from '../../../lib/page/parameters.ts'
import type { Json } from './json-schema.ts'

/** The operation's identifier in the document, from its path: `citationShare`. */
export const operationId = ({ path }: Pick<Operation, 'path'>): string =>
  path.slice(1).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())

/** Returns the links of a 200 response: from a page to the next one, from the brands to each of the `paged` operations. */
export function linksOf(operation: Operation, paged: readonly Operation[]): Json {
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
