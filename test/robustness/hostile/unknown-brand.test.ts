import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { BASE } from '../../../lib/app.ts'
import { fillDaily } from '../../support/daily.ts'
import { dice } from '../../support/dice.ts'
import { patience, tries } from '../../support/effort.ts'
import { findEndpoints } from '../../support/endpoints.ts'
import { markBrand } from '../../support/marks.ts'
import { quantile, rankDistance } from '../../support/ranks.ts'
import { tenant } from '../../support/tenant.ts'
import { at } from '../../support/tenants.ts'
import { type Heard, send } from '../../support/wire.ts'
import { brand, database, exportKey } from '../../support/world.ts'

const db = database()
const service = inject('serviceUrl')
const endpoints = await findEndpoints()
const paths = endpoints.filter(({ paged }) => paged).map(({ path }) => path)

/** Brands of each kind, so that no kind is quicker for being asked about again and again. */
const EACH = 8

const KINDS = ['unknown', 'foreign', 'inactive', 'not in the list'] as const
type Kind = (typeof KINDS)[number]

let key = ''
let own = ''
let brands: Readonly<Record<Kind, readonly string[]>>

beforeAll(async () => {
  const [its, other] = [await tenant(db), await tenant(db)]
  const some = async (make: () => string | Promise<string>): Promise<string[]> => {
    const ids: string[] = []
    while (ids.length < EACH) ids.push(await make())
    return ids
  }
  own = its.brandId
  brands = {
    unknown: await some(() => randomUUID()),
    foreign: await some(() => brand(db, other.org)),
    inactive: await some(() => brand(db, its.org, { active: false })),
    'not in the list': await some(() => brand(db, its.org)),
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

/** All that an answer tells, but what the clock, the request's id and the caller's own budget put into it. */
const toBudget = ({ status, fields, body }: Heard): string =>
  JSON.stringify([
    status,
    body,
    fields.filter(([name]) => !/^(date|ratelimit|server-timing|x-request-id)$/.test(name)).toSorted(),
  ])

describe('a brand that a key cannot read is told like one that never was', () => {
  test.each(paths)('by status, headers and body of %s', async (path) => {
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
          KINDS.flatMap((kind) => brands[kind].slice(0, 2)).map((id) => ask(path, id, rest, method)),
        )
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]))
        expect(new Set(answers.map(toBudget)).size).toBe(1)
      }
    }
    expect((await ask(path, own)).status).toBe(200)
  })

  /** Distances beyond this do not come by chance, nor of a busy machine: asked side by side, all wait alike. */
  const CHANCE = 6

  const line: string[] = []
  afterAll(() => console.log(`foreign and unknown brands by time: ${line.join(', ')}`))

  test('by the time that it takes, over 2,000 tries side by side', {
    timeout: patience(300_000),
  }, async () => {
    await fillDaily(db, { name: 'sentiment', brandId: own, rows: 1000, first: '2020-01-01', days: 1000 })
    const times: Record<Kind | 'read', number[]> = {
      unknown: [],
      foreign: [],
      inactive: [],
      'not in the list': [],
      read: [],
    }
    const { below, chance } = dice(1)
    const timed = async (kind: keyof typeof times, id: string): Promise<void> => {
      const start = performance.now()
      const { status } = await ask('/sentiment', id, '&fromDate=2020-01-01')
      times[kind].push(performance.now() - start)
      expect(status).toBe(kind === 'read' ? 200 : 404)
    }
    for (let round = 0; round < tries(500); round += 1) {
      const asked = [...KINDS, ...(chance(0.2) ? (['read'] as const) : [])]
      const turn = asked
        .map((kind) => ({ kind, lot: below(1e6) }))
        .toSorted((one, other) => one.lot - other.lot)
      await Promise.all(
        turn.map(({ kind }) => timed(kind, kind === 'read' ? own : at(brands[kind], below(EACH)))),
      )
    }

    const { unknown, read } = times
    const spread = quantile(unknown, 0.75) - quantile(unknown, 0.25)
    line.push(
      `${tries(2000)} tries`,
      `median ${quantile(unknown, 0.5).toFixed(2)} ms, spread ${spread.toFixed(2)} ms`,
    )
    for (const kind of KINDS.slice(1)) {
      const distance = rankDistance(times[kind], unknown)
      line.push(`${kind} z ${distance.toFixed(2)}`)
      expect(Math.abs(distance), kind).toBeLessThan(CHANCE)
    }

    // The same measure does tell a difference: a page that is read, and unknown brands answered later by their spread.
    line.push(`a page that is read z ${rankDistance(read, unknown).toFixed(2)}`)
    const seen = (shift: number) =>
      rankDistance(
        unknown.map((time) => time + shift),
        unknown,
      ) > CHANCE
    const parts = Array.from({ length: 100 }, (_, index) => (spread * (index + 1)) / 100)
    line.push(`a shift would be seen from ${parts.find(seen)?.toFixed(2)} ms on`)
    expect(seen(spread)).toBe(true)
  })
})
