import { randomUUID } from 'node:crypto'
import { beforeAll, expect, inject, test } from 'vitest'
import { BASE } from '../../../lib/app.ts'
import { findEndpoints } from '../../support/endpoints.ts'
import { markBrand } from '../../support/marks.ts'
import { tenant } from '../../support/tenant.ts'
import { type Heard, send } from '../../support/wire.ts'
import { brand, database, exportKey } from '../../support/world.ts'

const db = database()
const service = inject('serviceUrl')
const endpoints = await findEndpoints()
const paths = endpoints.filter(({ paged }) => paged).map(({ path }) => path)

const KINDS = ['unknown', 'foreign', 'inactive', 'not in the list'] as const
type Kind = (typeof KINDS)[number]

let key = ''
let own = ''
let brands: Readonly<Record<Kind, readonly string[]>>

beforeAll(async () => {
  const [its, other] = [await tenant(db), await tenant(db)]
  own = its.brandId
  brands = {
    unknown: [randomUUID(), randomUUID()],
    foreign: [await brand(db, other.org), await brand(db, other.org)],
    inactive: [await brand(db, its.org, { active: false })],
    'not in the list': [await brand(db, its.org)],
  }
  const listed = [own, ...brands.unknown, ...brands.foreign, ...brands.inactive]
  key = (await exportKey(db, its.org, { brand_ids: listed })).key
  for (const kind of KINDS.slice(1))
    await markBrand(db, endpoints, { brandId: brands[kind][0] ?? '', mark: 1 })
})

async function ask(path: string, brandId: string, rest = '', method = 'GET'): Promise<Heard> {
  const fields = [
    ['User-Agent', randomUUID()],
    ['X-API-Key', key],
  ] as const
  const answer = await send(service, { method, target: `${BASE}${path}?brandId=${brandId}${rest}`, fields })
  if (answer === null) throw new Error('The connection was closed without an answer')
  return answer
}

/** A response without what the clock, the request's id and the client's own budget put into it. */
const comparable = ({ status, fields, body }: Heard): string =>
  JSON.stringify([
    status,
    body,
    fields.filter(([name]) => !/^(date|ratelimit|server-timing|x-request-id)$/.test(name)).toSorted(),
  ])

test.each(
  paths,
)('a brand that a key cannot read looks like an unknown brand in status, headers and body of %s', async (path) => {
  const rests = [
    '',
    '&fromDate=2020-01-01',
    '&fromDate=2020-01-01&toDate=9999-12-31',
    '&toDate=2000-01-01',
    '&x=y',
  ]
  for (const rest of rests) {
    for (const method of ['GET', 'HEAD']) {
      const answers = await Promise.all(
        KINDS.flatMap((kind) => brands[kind]).map((id) => ask(path, id, rest, method)),
      )
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]))
      expect(new Set(answers.map(comparable)).size).toBe(1)
    }
  }
  expect((await ask(path, own)).status).toBe(200)
})
