import type { Client } from 'pg'
import { refreshAll } from '../../../drizzle/db/refresh.ts'
import { inDatabase } from '../database.ts'
import { figure, type Section, type Setting } from '../section.ts'
import { withService } from '../service.ts'
import { addBrand, addTenant } from '../tenant.ts'
import { alternate, timed } from '../timing.ts'
import { fillCitations } from '../volume.ts'
import { pages as requestPages, yearOf } from '../year.ts'

const DAYS = 90
const ROUNDS = { stored: 200, view: 3 }
const PLACES = ['first', 'middle', 'last'] as const

/** One size of the brand: its pages as PostgreSQL answers them, and the first page computed by the view. */
type Sized = {
  readonly answers: number
  readonly rows: number
  readonly pages: Readonly<Record<(typeof PLACES)[number], () => Promise<number>>>
  readonly view: () => Promise<number>
}

/** What a page of citation share costs PostgreSQL at two volumes of one brand. */
export const section: Section = (setting) => withSizes([10_000, 1_000_000], setting, [])

/** Keeps a database of each size open, so that measurements can alternate between them. */
async function withSizes(
  [size, ...others]: readonly number[],
  setting: Setting,
  sizes: readonly Sized[],
): Promise<Awaited<ReturnType<Section>>> {
  if (size === undefined) return compare(sizes)
  return inDatabase(setting.serverUrl, async (client, url) => {
    const answers = setting.sized(size)
    setting.report(`a brand with ${figure(answers)} answers`)
    return withSizes(others, setting, [...sizes, await prepare(client, url, answers)])
  })
}

async function prepare(client: Client, databaseUrl: string, answers: number): Promise<Sized> {
  const { organizationId, key } = await addTenant(client)
  const brandId = await addBrand(client, organizationId)
  await fillCitations(client, { brandId, answers, days: DAYS, citations: [2, 3] })
  await client.query('vacuum analyze')
  await refreshAll(client)
  await client.query('vacuum analyze')
  // The statement of each full page, as the Worker sent it.
  const statements = await withService({ databaseUrl }, async ({ pool, state }) => {
    const sent: (typeof state.sent)[] = []
    for await (const _ of requestPages(yearOf(pool, { brandId, key }))) sent.push(state.sent)
    return sent
  })
  const { rowCount } = await client.query('select from daily.citation_share where brand_id = $1', [brandId])
  const full = statements.slice(0, -1)
  const replay = (sent: (typeof statements)[number] | undefined) => () =>
    timed(() =>
      client.query({ text: sent?.query ?? '', values: [...(sent?.params ?? [])], rowMode: 'array' }),
    )
  const view = `select date, url, domain, is_owned, citations, owned_citations from metrics.citation_share
    where brand_id = $1 order by 1, 2 limit 1001`
  return {
    answers,
    rows: rowCount ?? 0,
    pages: {
      first: replay(full[0]),
      middle: replay(full[Math.floor(full.length / 2)]),
      last: replay(full.at(-1)),
    },
    view: () => timed(() => client.query(view, [brandId])),
  }
}

async function compare(sizes: readonly Sized[]) {
  const storedTimes = await alternate(
    Object.fromEntries(
      sizes.flatMap(({ answers, pages }) => PLACES.map((place) => [`${place} ${answers}`, pages[place]])),
    ),
    ROUNDS.stored,
  )
  const computed = await alternate(
    Object.fromEntries(sizes.map(({ answers, view }) => [`${answers}`, view])),
    ROUNDS.view,
  )
  const stored = (name: string) => storedTimes(name, (ms) => ms)
  const base = sizes[0]?.answers
  return [
    {
      title: 'A page of citation share in PostgreSQL, at growing volumes of one brand',
      columns: ['answers', 'daily rows', 'first page', 'middle', 'last full page', 'first page by the view'],
      rows: sizes.map(({ answers, rows }) => [
        answers,
        rows,
        ...PLACES.map((place) => stored(`${place} ${answers}`) / stored(`${place} ${base}`)),
        computed(`${answers}`, (ms) => ms) / stored(`first ${answers}`),
      ]),
      note: `1 = the same page at the smallest volume (first: ${figure(stored(`first ${base}`))} ms). Goal at the largest: at most 1.2. View: 1 = the stored first page at the same volume. Medians of ${ROUNDS.stored} and ${ROUNDS.view} alternating rounds of the Worker's own statement, over ${DAYS} days.`,
    },
  ]
}
