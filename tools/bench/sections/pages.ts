import type { ClientBase } from 'pg'
import { refreshAll } from '../../../drizzle/db/refresh.ts'
import { inDatabase } from '../database.ts'
import { pages } from '../page.ts'
import { figure } from '../print.ts'
import { alternate, timed } from '../rounds.ts'
import type { Section, Setting } from '../section.ts'
import { addBrand, tenant } from '../tenant.ts'
import { withoutTriggers } from '../triggers.ts'
import { fillCited } from '../volume.ts'

const DAYS = 90
const FIRST_DAY = '2026-08-23'
const ROUNDS = { daily: 200, view: 3 }

/** The view with a line to each row, as the daily table has. */
const VIEW = `create schema computed; create view computed.citation_share as
  select found.*, (select row_to_json(sent)::text from (select found.date, found.url, found.domain, found.is_owned,
    found.citations, found.owned_citations) as sent) as line
  from metrics.citation_share as found`

type Reads = Readonly<Record<'first' | 'middle' | 'last' | 'viewFirst' | 'viewLast', () => Promise<number>>>
type Sized = { readonly answers: number; readonly dailyRows: number; readonly reads: Reads }

/** A page of citation share at three volumes of one brand, out of the daily table and out of the view. */
export const section: Section = (setting) => withSizes([10_000, 100_000, 1_000_000], setting, [], compare)

/** Holds a database of each size open, so that their pages can be read in turns. */
async function withSizes<Result>(
  [size, ...others]: readonly number[],
  setting: Setting,
  before: readonly Sized[],
  work: (sizes: readonly Sized[]) => Promise<Result>,
): Promise<Result> {
  if (size === undefined) return work(before)
  return inDatabase(setting.serverUrl, async (client) => {
    const answers = setting.sized(size)
    setting.tell(`a brand with ${figure(answers)} answers`)
    return withSizes(others, setting, [...before, await prepare(client, answers)], work)
  })
}

async function prepare(client: ClientBase, answers: number): Promise<Sized> {
  const { organizationId, keyHash } = await tenant(client)
  const brandId = await addBrand(client, { organizationId })
  await withoutTriggers(client, () => fillCited(client, { brandId, answers, days: DAYS, citations: [2, 3] }))
  await client.query('vacuum analyze')
  await client.query(`insert into daily.refresh_queue (metric) values ('citation_share')`)
  await refreshAll(client)
  await client.query('vacuum analyze')
  const { rows } = await client.query<{ n: number }>('select count(*)::int as n from daily.citation_share')
  const daily = pages({ client, keyHash, schema: 'daily', first: FIRST_DAY })
  await client.query(VIEW)
  const view = pages({ client, keyHash, schema: 'computed', first: FIRST_DAY })
  const dailyRows = rows[0]?.n ?? 0
  const last = await daily.position(brandId)
  const middle = await daily.position(brandId, Math.floor(dailyRows / 2 - 1000))
  return {
    answers,
    dailyRows,
    reads: {
      first: () => timed(() => daily.first(brandId)),
      middle: () => timed(() => daily.after(brandId, middle)),
      last: () => timed(() => daily.after(brandId, last)),
      viewFirst: () => timed(() => view.first(brandId)),
      viewLast: () => timed(() => view.after(brandId, last)),
    },
  }
}

async function compare(sizes: readonly Sized[]) {
  const contenders = (...names: (keyof Reads)[]) =>
    Object.fromEntries(
      sizes.flatMap(({ answers, reads }) => names.map((name) => [`${name} ${answers}`, reads[name]])),
    )
  const daily = await alternate(contenders('first', 'middle', 'last'), ROUNDS.daily)
  const view = await alternate(contenders('viewFirst', 'viewLast'), ROUNDS.view)
  const base = sizes[0]?.answers
  return [
    {
      title: 'A page of 1000 rows of citation share, at growing volumes of one brand over 90 days',
      columns: [
        'answers',
        'daily rows',
        'first page',
        'in the middle',
        'last page',
        'view: first page',
        'view: last page',
      ],
      rows: sizes.map(({ answers, dailyRows }) => [
        answers,
        dailyRows,
        daily(`first ${answers}`) / daily(`first ${base}`),
        daily(`middle ${answers}`) / daily(`middle ${base}`),
        daily(`last ${answers}`) / daily(`last ${base}`),
        view(`viewFirst ${answers}`) / daily(`first ${answers}`),
        view(`viewLast ${answers}`) / daily(`last ${answers}`),
      ]),
      note: `First, middle and last page: time from the daily table, 1 = the same page at the smallest volume (first ${figure(daily(`first ${base}`))} ms, middle ${figure(daily(`middle ${base}`))} ms, last ${figure(daily(`last ${base}`))} ms; goal at the largest: at most 1.2). View: the same statement over the view, 1 = the page from the daily table beside it. Medians of ${ROUNDS.daily} and ${ROUNDS.view} alternating rounds; the whole statement with access, planned each time; the last page is the deepest that is full.`,
    },
  ]
}
