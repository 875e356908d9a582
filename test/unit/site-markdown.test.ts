import { readFile } from 'node:fs/promises'
import { marked, type Token, type Tokens } from 'marked'
import { expect, test } from 'vitest'
import document from '../../functions/openapi.json' with { type: 'json' }
import { PLANS } from '../../lib/access/plans.ts'
import { RATE_LIMIT } from '../../lib/limits/token-bucket.ts'
import { endpointSection } from '../../site/markdown/endpoint.ts'
import { llmsTxt } from '../../site/markdown/llms.ts'
import { markdown } from '../../site/markdown/page.ts'
import { reference } from '../fixtures/site/reference.ts'

const read = (name: string) => readFile(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8')
const text = markdown(reference, { sync: await read('sync'), specification: await read('specification') })

/** The text that a reader sees. */
const plain = (tokens: readonly Token[] = []): string =>
  tokens
    .map((token) => ('tokens' in token ? plain(token.tokens) : 'text' in token ? token.text : ''))
    .join('')

const is =
  <Type extends Tokens.Generic['type']>(type: Type) =>
  (token: Token): token is Extract<Token, { type: Type }> =>
    token.type === type

/** Returns the tokens from a heading to the next one. */
function section(markdown: string, heading: string): Token[] {
  const tokens = marked.lexer(markdown)
  const start = tokens.findIndex((token) => is('heading')(token) && token.text === heading)
  expect(start, heading).toBeGreaterThan(-1)
  const length = tokens.slice(start + 1).findIndex(is('heading'))
  return tokens.slice(start + 1, length === -1 ? undefined : start + 1 + length)
}

/** Returns the rows of the tables among tokens, each as its cells. */
const rowsOf = (tokens: readonly Token[]): string[][] =>
  tokens
    .filter(is('table'))
    .flatMap(({ rows }: Tokens.Table) => rows.map((row) => row.map(({ tokens }) => plain(tokens))))

/** The text of the document as a reader sees it. */
const seen = (text = '') => text.replaceAll('`', '').replace(/\s+/g, ' ')

test.each(reference.endpoints)('describes /$id', ({
  id,
  path,
  description,
  parameters,
  fields,
  primaryKey,
}) => {
  const tokens = section(text, `/${id}`)
  const prose = tokens.filter((token) => !is('table')(token)).map((token) => plain([token]))
  expect(prose).toContainEqual(expect.stringContaining(`GET ${path}`))
  expect(prose).toContain(seen(description))
  const facts = tokens
    .filter(is('list'))
    .flatMap(({ items }: Tokens.List) => items.map(({ tokens }) => plain(tokens)))
  expect(facts).toContain(`Primary key (x-primary-key): ${primaryKey.join(', ')}`)
  for (const { name } of parameters) expect(facts[0]).toContain(name)
  expect(rowsOf(tokens)).toEqual(
    fields.map(({ name, type, nullable, additive, description }) => [
      name,
      nullable ? `${type} or null` : type,
      additive ? 'sum' : '',
      seen(description),
    ]),
  )
  const [example] = tokens.filter(is('code'))
  expect(Object.keys(JSON.parse(example?.text ?? ''))).toEqual(fields.map(({ name }) => name))
  for (const { name, type } of fields)
    if (type === 'number') expect(example?.text).toMatch(new RegExp(`"${name}": \\d+\\.\\d{4}\\b`))
})

test('describes every parameter, member of a page, plan, status and header', () => {
  const { parameters, schemas, responses, headers } = document.components
  const names = (heading: string) => rowsOf(section(text, heading)).map(([name]) => name)
  const members = ({ properties }: { properties: object }) => Object.keys(properties)
  const described = (heading: string) =>
    rowsOf(section(text, heading)).map((cells) => [cells[0], cells.at(-1)])
  expect(described('Parameters')).toEqual(
    expect.arrayContaining(Object.values(parameters).map((each) => [each.name, seen(each.description)])),
  )
  expect(names('Paging')).toEqual([
    ...members(schemas.Pagination).map((name) => `pagination.${name}`),
    ...members(schemas.Meta).map((name) => `meta.${name}`),
  ])
  expect(names('Limits')).toEqual(Object.keys(PLANS))
  expect(rowsOf(section(text, 'Limits'))).toContainEqual(['agency', '180 days', '5'])
  expect(text).toContain(`\n- Rate limit: ${RATE_LIMIT.requests} requests`)
  expect(names('Errors')).toEqual(
    expect.arrayContaining(Object.keys(responses).filter((each) => each >= '400')),
  )
  expect(described('Response headers')).toEqual(
    Object.entries(headers).map(([name, { description }]) => [name, seen(description)]),
  )
})

test('texts of the document do not become markup', () => {
  const [first] = reference.endpoints
  if (first === undefined) throw new Error('No endpoint')
  const hostile = 'a | b `c | d` *e* _f_ [g](h) <i> &amp; ~~j~~ \\'
  const fields = [{ name: 'a|b', type: 'string', nullable: false, description: hostile, additive: false }]
  const tokens = section(endpointSection({ ...first, description: hostile, fields }), `/${first.id}`)
  expect(tokens.map((token) => plain([token]))).toContain(seen(hostile))
  expect(rowsOf(tokens)).toEqual([['a|b', 'string', '', seen(hostile)]])
})

// The format: https://llmstxt.org.
test('llms.txt has a title, a summary, a text and lists of links', () => {
  const types = marked.lexer(llmsTxt(reference)).filter((token) => !is('space')(token))
  expect(types.slice(0, 3).map(({ type }) => type)).toEqual(['heading', 'blockquote', 'paragraph'])
  const lists = types.slice(3)
  expect(lists.map(({ type }) => type)).toEqual(
    ['Docs', 'Endpoints', 'Optional'].flatMap(() => ['heading', 'list']),
  )
  for (const { items } of lists.filter(is('list')))
    for (const { raw } of items) expect(raw.trim()).toMatch(/^- \[[^\]]+\]\(https:\/\/[^)]+\): .+\.$/)
})
