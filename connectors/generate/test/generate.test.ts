import { expect, test } from 'vitest'
import { readStreams } from '../../../site/reference/streams.ts'
import { generate, outdated, withBlock } from '../generate.ts'

test('the generated parts of the connectors match the OpenAPI document', async () => {
  expect(await outdated(await generate())).toEqual([])
})

test('a metric has its brand as first column and in its key', () => {
  const stream = readStreams().find(({ name }) => name === 'citation_share')
  expect(stream).toMatchObject({
    endpoint: 'citation-share',
    kind: 'metric',
    key: ['brand_id', 'date', 'url'],
    totals: ['citations', 'owned_citations'],
  })
  expect(stream?.columns.map(({ name, type, nullable }) => [name, type, nullable])).toEqual([
    ['brand_id', 'uuid', false],
    ['date', 'date', false],
    ['url', 'text', false],
    ['domain', 'text', true],
    ['is_owned', 'boolean', false],
    ['citations', 'integer', false],
    ['owned_citations', 'integer', false],
  ])
})

test('brands have columns in snake_case', () => {
  const [brands] = readStreams()
  expect(brands).toMatchObject({ name: 'brands', kind: 'brands', key: ['id'] })
  expect(brands?.columns).toContainEqual(
    expect.objectContaining({ name: 'display_name', field: 'displayName', type: 'text' }),
  )
})

test('a block is replaced between its markers, and a missing one is an error', () => {
  const file = 'by hand\n# <generated types>\nold\n# </generated types>\nby hand\n'
  expect(withBlock(file, 'types', 'new\n')).toBe(file.replace('old', 'new'))
  expect(() => withBlock(file, 'keys', '')).toThrow('<generated keys>')
})
