import pg from 'pg'
import { differences } from '../fixtures/differences.ts'
import { seededRandom } from '../fixtures/random.ts'
import { brand, CHANGES, id } from './changes.ts'
import { addThird, emptyCopy, keepTime, OTHERS, OURS, type openDays, startOf, store, THIRD } from './days.ts'

type Service = Awaited<ReturnType<typeof openDays>>

/** Days outside of the reach of the lower plans, or next to its limits. */
const OLD_DAYS = ['2026-04-01', '2026-06-01', '2026-07-01', '2026-08-29', '2026-08-30', '2026-08-31']

const any = (n: number): string => id(1, n % 3)

/** What changes which brands and days a key reads. Each statement is a transaction. */
const ACCESS: Readonly<Record<string, (a: number, b: number) => readonly string[]>> = {
  flip: (a) => [`update brands set active = not active where id = ${any(a)}`],
  flipBriefly: (a) => Array(2).fill(`update brands set active = not active where id = ${any(a)}`),
  activateAll: () => ['update brands set active = true'],
  moveBrand: (a, b) => [
    `update brands set organization_id = '${b % 3 ? OURS : OTHERS}' where id = ${any(a)}`,
  ],
  moveBriefly: (a) => [
    `update brands set organization_id = '${OTHERS}' where id = ${any(a)}`,
    `update brands set organization_id = '${OURS}' where id = ${any(a)}`,
  ],
  plan: (_, b) => [`update subscriptions set plan = '${['pro', 'agency', 'enterprise'][b % 3]}'`],
  planBriefly: (_, b) => [
    `update subscriptions set plan = '${['pro', 'agency'][b % 2]}'`,
    `update subscriptions set plan = 'enterprise'`,
  ],
  list: (a, b) => [
    `update api_keys set brand_ids = ${['null', `array[${any(a)}]::uuid[]`, `array[${any(a)}, ${any(a + 1)}]::uuid[]`, `'{}'`][b % 4]}`,
  ],
  listBriefly: (a) => [
    `update api_keys set brand_ids = array[${any(a)}]::uuid[]`,
    'update api_keys set brand_ids = null',
  ],
  newBrand: (a) => [addThird(a % 4 !== 0)],
  dropThird: () => [`delete from brands where id = '${THIRD}'`],
}

/** Of these, what a run that begins with a time does not bring. */
const NOT_BY_TIME = new Set(['plan', 'planBriefly', 'list', 'listBriefly'])

/** Changes of raw rows that make days of several parts, and days that only some plans reach. */
const MORE_CHANGES: Readonly<Record<string, (a: number, b: number) => string>> = {
  manyUrls: (a, b) =>
    `insert into citations (answer_id, url, owned, recorded_at)
     select id, 'https://many.example/${b}/' || n, n % 2 = 0, answered_at
     from (select id, answered_at from answers order by id limit 1 offset ${a % 5}) as one, generate_series(1, 17) as n`,
  fewerUrls: (_, b) => `delete from citations where url like 'https://many.example/${b}/%'`,
  oldAnswer: (a, b) =>
    `insert into answers (id, prompt_id, model_id, market_id, answered_at)
     select ${id(3, 100 + (b % 6))}, prompts.id, models.id, markets.id, '${OLD_DAYS[b % 6]}T12:00Z'
     from (select id from prompts order by id limit 1 offset ${a % 4}) as prompts,
       (select id from models limit 1) as models, (select id from markets limit 1) as markets on conflict do nothing`,
  dropOld: (_, b) => `delete from answers where id = ${id(3, 100 + (b % 6))}`,
}

/** What a constraint rejects: a row that is gone, exists already, or needs another. */
const REJECTED = new Set(['23502', '23503', '23505'])

/**
 * Plays a history of edits, refreshes, changes of access and pages, of which some are lost. Returns what is wrong: rows of
 * a copy at the end of a run that was a minute long, and at the end of the history; and, if anything is, the steps.
 */
export async function playDays(service: Service, seed: number): Promise<unknown[]> {
  const { below, chance, pick, some } = seededRandom(seed)
  const { client, begin, pass, read, differing } = service
  await begin()
  const copy = emptyCopy()
  if (chance(0.3)) keepTime(copy)
  const wrong: unknown[] = []
  const trace: string[] = []

  async function change(...statements: readonly string[]): Promise<void> {
    for (const sql of statements) {
      trace.push(sql)
      await client.query(sql).catch((error) => {
        if (!(error instanceof pg.DatabaseError && REJECTED.has(error.code ?? ''))) throw error
      })
    }
  }

  /** Reads a page, and loses one in ten. Returns whether there are more. */
  async function page(): Promise<boolean> {
    const received = await read(startOf(copy))
    const days = received.data.map(
      ({ endpoint, brand_id, date }) => `${endpoint} ${brand_id.slice(7, 8)} ${date}`,
    )
    trace.push(`a page: ${days.join(', ')}${received.pagination.hasMore ? ' …' : ''}`)
    if (chance(0.1)) return true
    store(copy, received)
    return received.pagination.hasMore
  }

  /** Reads until there are no more pages: the copy then has what was visible a minute ago. */
  async function catchUp(): Promise<void> {
    trace.push('a minute passes')
    pass(61)
    while (await page());
    if (!(await service.isReturning())) wrong.push(...(await differing(copy)))
  }

  const numbers = () => [below(12), below(12), below(12), below(12)] as const
  const edits = [
    ...some(Object.values(CHANGES), 0.15),
    ...[
      CHANGES.addAnswers,
      CHANGES.addCitation,
      CHANGES.judge,
      CHANGES.placeAnswer,
      CHANGES.addMention,
    ].flatMap((each) => each ?? []),
    ...Object.values(MORE_CHANGES),
  ]
  const access = some(
    Object.entries(ACCESS).flatMap(([name, each]) => (copy.time && NOT_BY_TIME.has(name) ? [] : each)),
    0.4,
  )

  const STEPS: readonly (readonly [number, () => Promise<unknown>])[] = [
    [8, () => change(pick(edits)(...numbers()))],
    [access.length > 0 ? 4 : 0, () => change(...pick(access)(below(12), below(12)))],
    [2, () => change(`select daily.refresh(null, '1 min', 31) from daily.resolve()`)],
    [1, () => change('select daily.resolve()')],
    [1, () => change(`select daily.refresh(${brand(below(2))}, '0 s', ${1 + below(3)})`)],
    [6, page],
    [1, catchUp],
    [1, async () => pass(pick([1, 45, 61, 86_400]))],
  ]
  const steps = STEPS.flatMap(([weight, step]) => Array<() => Promise<unknown>>(weight).fill(step))
  for (let left = 30 + below(40); left > 0 && wrong.length === 0; left -= 1) await pick(steps)()

  if (chance(0.8)) await change(`update brands set active = true, organization_id = '${OURS}'`)
  if (chance(0.5)) await change('update api_keys set brand_ids = null')
  if (chance(0.5)) await change(`update subscriptions set plan = 'enterprise'`)
  await service.refresh()
  await catchUp()
  wrong.push(...(await differences(client)), ...(await differing(copy, 'metrics')))
  return wrong.length > 0 ? [...wrong, ...trace] : []
}
