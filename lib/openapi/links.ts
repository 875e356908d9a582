import type { Operation } from '../operation.ts'
import { Parameters } from '../parameters.ts'
import type { Json } from './json-schema.ts'

/** The operation's identifier in the document, from its path: `citationShare`. */
export const operationId = ({ path }: Pick<Operation, 'path'>): string =>
  path.slice(1).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())

/** Returns the links of a 200 response: from a page to the next one, from the brands to each of the `metrics`. */
export function linksOf(operation: Operation, metrics: readonly Operation[]): Json {
  if (operation.paged) return { nextPage: nextPage(operation) }
  return Object.fromEntries(
    metrics.map((metric) => [
      operationId(metric),
      {
        operationId: operationId(metric),
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
    ...Object.fromEntries(Object.keys(Parameters.shape).map((name) => [name, `$request.query.${name}`])),
    cursor: '$response.body#/pagination/nextCursor',
  },
})
