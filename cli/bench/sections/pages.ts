import { refreshAll } from '../../../drizzle/db/refresh.ts'
import { createDatabase, type Database } from '../database.ts'
import { alternate, timed } from '../measure.ts'
import { figure, type Section } from '../section.ts'
import { startService } from '../service.ts'
import { addBrands, addTenant } from '../tenant.ts'
import { fillCitations } from '../volume.ts'
import { requestPages, yearOf } from '../year.ts'

const DAYS = 90
const ROUNDS = { stored: 200, view: 3 }

/** What a page of citation share costs PostgreSQL at two volumes of one brand. */
export const section: Section = async ({ serverUrl, sized, report }) => {
  const [few, many] = [sized(10_000), sized(1_000_000)]
  report(`a brand with ${figure(few)} answers, and one with ${figure(many)}`)
  await using small = await createDatabase(serverUrl)
  await using large = await createDatabase(serverUrl)
  const [ofSmall, ofLarge] = [await prepare(small, few), await prepare(large, many)]
  report(`${ROUNDS.stored} rounds of pages`)
  const stored = await alternate(
    {
      first: ofSmall.first,
      middle: ofSmall.middle,
      last: ofSmall.last,
      'first of many': ofLarge.first,
      'middle of many': ofLarge.middle,
      'last of many': ofLarge.last,
    },
    ROUNDS.stored,
  )
  const computed = await alternate({ view: ofLarge.view }, ROUNDS.view)
  const ms = (time: number) => time
  const places = ['first', 'middle', 'last'] as const
  return [
    {
      title: `A page of citation share in PostgreSQL: a brand with ${figure(many)} answers, compared with ${figure(few)}`,
      columns: ['page', 'ratio', 'ms of the smaller brand'],
      rows: places.map((place) => [
        place,
        stored(`${place} of many`, ms) / stored(place, ms),
        stored(place, ms),
      ]),
      note: `Goal: at most 1.2. The first page by the view, without stored rows, takes ${figure(computed('view', ms) / stored('first of many', ms))} times as long as the stored one of the larger brand. Medians of ${ROUNDS.stored} and ${ROUNDS.view} alternating rounds of the Worker's own statement, over ${DAYS} days.`,
    },
  ]
}

/** Fills a database. Returns what times its full pages as the Worker asks for them, and the first page of the view. */
async function prepare({ client, url }: Database, answers: number) {
  const { organizationId, key } = await addTenant(client)
  const [brandId = ''] = await addBrands(client, organizationId, 1)
  await fillCitations(client, { brandId, answers, days: DAYS, citations: [2, 3] })
  await client.query('vacuum analyze')
  await refreshAll(client)
  await client.query('vacuum analyze')
  await using service = await startService({ databaseUrl: url })
  const { pool, state } = service
  const statements: (typeof state.sent)[] = []
  await requestPages(yearOf(pool, { brandId, key }), () => statements.push(state.sent))
  const full = statements.slice(0, -1)
  const replay = (sent: (typeof statements)[number] | undefined) => () =>
    timed(() =>
      client.query({ text: sent?.query ?? '', values: [...(sent?.params ?? [])], rowMode: 'array' }),
    )
  const view = `select date, url, domain, is_owned, citations, owned_citations from metrics.citation_share
    where brand_id = $1 order by 1, 2 limit 1001`
  return {
    first: replay(full[0]),
    middle: replay(full[Math.floor(full.length / 2)]),
    last: replay(full.at(-1)),
    view: () => timed(() => client.query(view, [brandId])),
  }
}
