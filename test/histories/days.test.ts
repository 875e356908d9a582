import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { Day } from '../fixtures/day.ts'
import { scaledTimeout, tries } from '../fixtures/effort.ts'
import { isolatedDatabase } from '../fixtures/isolated-database.ts'
import {
  addThird,
  type Copy,
  emptyCopy,
  FIRST,
  keepTime,
  OTHERS,
  OURS,
  openDays,
  SECOND,
  THIRD,
} from '../interleavings/days.ts'
import { playDays } from '../interleavings/days-histories.ts'

const SEED = Number(process.env.HOSTILE_SEED ?? 20_261_128)
const RUNS = tries(100)

const { url, drop } = await isolatedDatabase()
const service = await openDays(url)
const { send, refresh, load, run, pass, differing } = service

afterAll(async () => {
  await service.close()
  await drop()
})

test(`a copy of ${RUNS} random histories is exact (HOSTILE_SEED=${SEED})`, {
  timeout: scaledTimeout(600_000),
}, async () => {
  for (let seed = SEED; seed < SEED + RUNS; seed += 1)
    expect(await playDays(service, seed), `HOSTILE_SEED=${seed}`).toEqual([])
})

describe('a copy is exact after', () => {
  let copy: Copy

  beforeEach(async () => {
    await service.begin()
    await send(addThird())
    await refresh()
    copy = emptyCopy()
    await run(copy)
    expect(await differing(copy)).toEqual([])
  })

  const activate = (brand: string, active: boolean) =>
    send(`update brands set active = ${active} where id = '${brand}'`)
  const move = (brand: string, organization: string) =>
    send(`update brands set organization_id = '${organization}' where id = '${brand}'`)
  const setList = (brands: readonly string[] | null) =>
    send(`update api_keys set brand_ids = ${brands ? `'{${brands}}'` : 'null'}`)
  const setPlan = (plan: string) => send(`update subscriptions set plan = '${plan}'`)

  let edits = 0
  /** Changes days of two metrics of a brand, each time in another way, so that each has more rows than a page. */
  async function edit(brand: string, day = '2026-09-21'): Promise<void> {
    edits += 1
    await send(
      `insert into citations (answer_id, url, owned, recorded_at)
       select id, 'https://edit.example/${edits}/' || n, false, '${day}T10:00Z'
       from (select answers.id from answers join prompts on prompts.id = prompt_id where brand_id = '${brand}' order by 1 limit 1)
         as answer, generate_series(1, 8) as n`,
    )
  }

  async function addAnswer(brand: string, day: string): Promise<void> {
    await send(
      `insert into answers (prompt_id, model_id, market_id, answered_at)
       select (select min(id::text)::uuid from prompts where brand_id = '${brand}'), 'model-0',
         (select id from markets order by id limit 1), '${day}T10:00Z'`,
    )
  }

  /** Reads until a page ends with a day of a brand. */
  async function readInto(brand: string): Promise<Day[]> {
    const all: Day[] = []
    for (;;) {
      const { data, pagination } = await load(copy)
      all.push(...data)
      if (data.at(-1)?.brand_id === brand) return all
      expect(pagination.hasMore, 'the run has days of the brand').toBe(true)
    }
  }

  async function expectExact(): Promise<void> {
    expect(await service.isReturning()).toBe(false)
    expect(await differing(copy)).toEqual([])
  }

  const brandsOf = (documents: readonly Day[]) =>
    [...new Set(documents.map(({ brand_id }) => brand_id))].sort()

  test('a run without a change, which has no document', async () => {
    expect(await run(copy)).toEqual([])
  })

  test('a brand that was inactive while it changed and while a run ended', async () => {
    await activate(SECOND, false)
    await refresh()
    await edit(SECOND)
    await refresh()
    expect(await run(copy)).toEqual([])
    await activate(SECOND, true)
    await refresh()
    expect(brandsOf(await run(copy))).toEqual([SECOND])
    await expectExact()
  })

  test('a brand that was inactive between two pages', async () => {
    for (const brand of [FIRST, SECOND, THIRD]) await edit(brand)
    await refresh()
    await readInto(FIRST)
    await activate(SECOND, false)
    await edit(SECOND, '2026-09-22')
    await refresh()
    await run(copy)
    await activate(SECOND, true)
    await refresh()
    await run(copy)
    await expectExact()
  })

  test('a brand that was inactive during a run, between two refreshes', async () => {
    await edit(SECOND)
    await refresh()
    await activate(SECOND, false)
    expect(await run(copy)).toEqual([])
    await activate(SECOND, true)
    await refresh()
    expect(brandsOf(await run(copy))).toEqual([SECOND])
    await expectExact()
  })

  test('a brand that was in another organization', async () => {
    await move(SECOND, OTHERS)
    await edit(SECOND)
    await refresh()
    expect(await run(copy)).toEqual([])
    await move(SECOND, OURS)
    await refresh()
    expect(brandsOf(await run(copy))).toEqual([SECOND])
    await expectExact()
  })

  test('a brand that is new, with days that another organization saw', async () => {
    await move(THIRD, OTHERS)
    await refresh()
    const fresh = emptyCopy()
    expect(brandsOf(await run(fresh))).toEqual([FIRST, SECOND])
    await move(THIRD, OURS)
    await refresh()
    const documents = await run(fresh)
    expect(brandsOf(documents)).toEqual([THIRD])
    expect(await differing(fresh)).toEqual([])
  })

  test('a brand that was deleted and is created again', async () => {
    await send(`delete from brands where id = '${THIRD}'`)
    await refresh()
    await run(copy)
    await send(addThird())
    await refresh()
    await run(copy)
    await expectExact()
  })

  test('a list of the key that loses a brand and regains it', async () => {
    await setList([FIRST, THIRD])
    await edit(SECOND)
    await refresh()
    expect(brandsOf(await run(copy))).toEqual([FIRST, THIRD])
    await setList(null)
    expect(brandsOf(await run(copy))).toEqual([FIRST, SECOND, THIRD])
    await expectExact()
  })

  test('a list of the key that grows, between two pages as well', async () => {
    await setList([FIRST])
    await run(copy)
    await edit(SECOND)
    await edit(FIRST)
    await refresh()
    await setList([FIRST, SECOND])
    await load(copy)
    await setList([FIRST, SECOND, THIRD])
    const documents = await run(copy)
    expect(brandsOf(documents)).toEqual([FIRST, SECOND, THIRD])
    expect(documents.every(({ causes }) => Object.keys(causes).length === 0)).toBe(true)
    await expectExact()
  })

  test('a plan that was lower: days before its reach come again, and days within do not', async () => {
    await addAnswer(SECOND, '2026-05-01')
    await refresh()
    await run(copy)
    await setPlan('pro')
    expect(await run(copy)).toEqual([])
    await addAnswer(SECOND, '2026-05-01')
    await addAnswer(FIRST, '2026-05-02')
    await refresh()
    expect(await run(copy)).toEqual([])
    await setPlan('enterprise')
    const documents = await run(copy)
    expect([...new Set(documents.map(({ date }) => date))].sort()).toEqual(['2026-05-01', '2026-05-02'])
    expect(documents.every(({ causes }) => Object.keys(causes).length === 0)).toBe(true)
    await expectExact()
  })

  test('a plan that was lower while days emptied, and is raised between two pages', async () => {
    await addAnswer(FIRST, '2026-05-01')
    await addAnswer(THIRD, '2026-05-01')
    await refresh()
    await run(copy)
    await setPlan('pro')
    await run(copy)
    await send(`delete from answers where answered_at < '2026-06-01'`)
    for (const brand of [FIRST, SECOND, THIRD]) await edit(brand)
    await refresh()
    await readInto(SECOND)
    await setPlan('enterprise')
    await run(copy)
    await expectExact()
  })

  test('a midnight, with which the reach of a plan moves, and no day is sent', async () => {
    await setPlan('pro')
    await addAnswer(SECOND, '2026-08-30')
    await addAnswer(SECOND, '2026-08-31')
    await refresh()
    expect(new Set((await run(copy)).map(({ date }) => date))).toEqual(new Set(['2026-08-30', '2026-08-31']))
    pass(86_400)
    expect(await run(copy)).toEqual([])
    // A Worker whose clock is behind.
    pass(-86_400)
    expect(new Set((await run(copy)).map(({ date }) => date))).toEqual(new Set(['2026-08-30']))
    await expectExact()
  })

  test('a plan that reaches one day further back', async () => {
    await setPlan('pro')
    await addAnswer(SECOND, '2026-08-29')
    await refresh()
    expect(await run(copy)).toEqual([])
    pass(89 * 86_400)
    await setPlan('agency')
    expect(new Set((await run(copy)).map(({ date }) => date))).toEqual(new Set(['2026-08-29']))
    await expectExact()
  })

  test('days of a brand that change before each page: the run ends, and has the other brands', async () => {
    for (const brand of [FIRST, THIRD]) await addAnswer(brand, '2026-09-21')
    const seen: Day[] = []
    for (let hasMore = true; hasMore; ) {
      for (const day of ['2026-09-21', '2026-09-22', '2026-09-23', '2026-09-24']) await addAnswer(FIRST, day)
      await refresh()
      const { data, pagination } = await load(copy)
      seen.push(...data)
      hasMore = pagination.hasMore
      expect(seen.length).toBeLessThan(200)
    }
    expect(brandsOf(seen)).toEqual([FIRST, THIRD])
    await run(copy)
    await expectExact()
  })

  test('pages that were lost', async () => {
    for (const brand of [FIRST, SECOND, THIRD]) await edit(brand)
    await refresh()
    for (const brand of [FIRST, THIRD, SECOND]) {
      await service.read({ cursor: copy.cursor })
      await edit(brand)
      await refresh()
      await load(copy)
    }
    await run(copy)
    await run(copy)
    await expectExact()
  })

  test('a run of several pages during which days changed that it has passed or not yet sent', async () => {
    for (const brand of [FIRST, SECOND, THIRD]) await edit(brand)
    await refresh()
    await readInto(SECOND)
    await edit(FIRST, '2026-09-22')
    for (let change = 0; change < 3; change += 1) await edit(THIRD, '2026-09-22')
    await refresh()
    await run(copy)
    await expectExact()
  })

  test('a run that was interrupted for a day: it has more until it has caught up', async () => {
    for (const brand of [FIRST, SECOND, THIRD]) await edit(brand)
    await refresh()
    await readInto(THIRD)
    pass(86_400)
    await edit(FIRST, '2026-09-22')
    await refresh()
    expect(brandsOf(await run(copy))).toContain(FIRST)
    await expectExact()
  })

  test('a run that was interrupted for a day in which nothing changed, which ends', async () => {
    for (const brand of [FIRST, THIRD]) await edit(brand)
    await refresh()
    await readInto(THIRD)
    pass(86_400)
    expect(brandsOf(await run(copy))).not.toContain(FIRST)
    await expectExact()
  })

  describe('a day of several parts', () => {
    const grow = (brand: string, rows: number, day = '2026-09-25') =>
      send(
        `insert into citations (answer_id, url, owned, recorded_at)
         select (select answers.id from answers join prompts on prompts.id = prompt_id where brand_id = '${brand}' order by 1 limit 1),
           'https://part.example/${'x'.repeat(200)}/' || n, false, '${day}T10:00Z' from generate_series(1, ${rows}) as n`,
      )

    const isPart = ({ endpoint, date }: Day, day = '2026-09-25') => endpoint === 'citations' && date === day

    test('changes before each page, and other brands come all the same', async () => {
      await addAnswer(THIRD, '2026-09-21')
      let pages = 0
      for (let brands: string[] = []; !brands.includes(THIRD); pages += 1) {
        await grow(FIRST, 12)
        await send(`update citations set url = url || '/${pages}' where url like 'https://part.example/%'`)
        await refresh()
        brands = brandsOf((await load(copy)).data)
        expect(pages).toBeLessThan(40)
      }
      await run(copy)
      await expectExact()
    })

    test.each(['2026-09-25', '0001-01-01', '9999-12-31'])('has all its rows once, on %s', async (date) => {
      await grow(SECOND, 20, date)
      await refresh()
      const parts = (await run(copy)).filter((day) => isPart(day, date))
      expect(parts.length).toBeGreaterThan(2)
      let rows = 0
      for (const part of parts) {
        expect([part.offset, part.row_count]).toEqual([rows, 20])
        rows += part.rows.length
      }
      expect(rows).toBe(20)
      await expectExact()
    })

    test.each([
      [
        'grows',
        `insert into citations (answer_id, url, owned, recorded_at)
         select min(answer_id::text)::uuid, 'https://part.example/new', true, '2026-09-25T10:00Z' from citations
         where url like 'https://part.example/%'`,
      ],
      ['shrinks', `delete from citations where url like 'https://part.example/%/1%'`],
      ['empties', `delete from citations where url like 'https://part.example/%'`],
    ])('starts again when it %s between two of them', async (_, change) => {
      await grow(SECOND, 20)
      await refresh()
      for (let offset = 0; offset === 0; ) {
        const page = await load(copy)
        offset = page.data.find((day) => isPart(day) && day.rows.length < day.row_count)?.rows.length ?? 0
      }
      await send(change)
      await refresh()
      const later = (await run(copy)).filter((day) => isPart(day))
      expect(later[0]?.offset).toBe(0)
      await expectExact()
    })

    test('goes on when another day changes between two of them', async () => {
      await grow(SECOND, 20)
      await refresh()
      for (let found = false; !found; )
        found = (await load(copy)).data.some((day) => isPart(day) && day.rows.length < day.row_count)
      await edit(SECOND, '2026-09-21')
      await refresh()
      const next = (await load(copy)).data[0]
      expect(next && isPart(next) && next.offset).toBeGreaterThan(0)
      await run(copy)
      await run(copy)
      await expectExact()
    })
  })

  describe('a run since the greatest time that was received of all brands', () => {
    beforeEach(async () => {
      const { rows } = await service.client.query('select max(changed_at) as since from daily.changes')
      keepTime(copy, rows[0].since)
    })

    test('with brands that became readable in the organization', async () => {
      await activate(SECOND, false)
      await refresh()
      await edit(SECOND)
      await edit(THIRD)
      await activate(SECOND, true)
      await refresh()
      expect(brandsOf(await run(copy))).toEqual([SECOND, THIRD])
      await expectExact()
      await edit(FIRST)
      await refresh()
      expect(brandsOf(await run(copy))).toEqual([FIRST])
      await expectExact()
    })

    test('during which an early brand changed before a later one, once more in the run that follows', async () => {
      for (const brand of [FIRST, SECOND, THIRD]) await edit(brand)
      await refresh()
      await readInto(SECOND)
      for (const brand of [FIRST, SECOND, THIRD]) await edit(brand)
      await refresh()
      await readInto(FIRST)
      await readInto(SECOND)
      await edit(FIRST, '2026-09-22')
      await refresh()
      await edit(THIRD, '2026-09-22')
      await refresh()
      await run(copy)
      await run(copy)
      await expectExact()
    })

    test('during which a day changed, of which a part was sent last', async () => {
      const rows = (prefix: string) => `insert into citations (answer_id, url, owned, recorded_at)
        select (select min(answer_id::text)::uuid from citations), 'https://part.example/${prefix}' || n, false, '2026-09-25T10:00Z'
        from generate_series(1, 20) as n`
      await send(rows('a'))
      await refresh()
      await load(copy)
      await send(rows('b'))
      await refresh()
      await run(copy)
      await expectExact()
    })
  })

  test('the cursor of one endpoint, of one brand and of a first day', async () => {
    for (const query of [
      { endpoint: 'citations' },
      { brandId: SECOND },
      { fromDate: '2026-09-22' },
      { endpoint: 'visibility', brandId: SECOND, fromDate: '2026-09-22' },
    ]) {
      const own = emptyCopy()
      const all = await run(own, query)
      expect(all.length).toBeGreaterThan(0)
      await edit(FIRST)
      await edit(SECOND, '2026-09-22')
      await addAnswer(SECOND, '2026-09-23')
      await refresh()
      await run(own, query)
      const wrong = (await differing(own)).map((line) => line.split(' '))
      const wanted = wrong.filter(
        ([, endpoint = '', brand = '', day = '']) =>
          endpoint === (query.endpoint ?? endpoint) &&
          brand === (query.brandId ?? brand) &&
          day >= (query.fromDate ?? day),
      )
      expect(wanted).toEqual([])
    }
  })
})
