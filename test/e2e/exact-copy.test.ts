import { expect, test } from 'vitest'
import { call, pull } from '../fixtures/call.ts'
import { daysAgo } from '../fixtures/clock.ts'
import {
  answer,
  brand,
  database,
  exportKey,
  insert,
  organization,
  place,
  prompt,
  refresh,
} from '../fixtures/rows.ts'
import { inexact } from '../sync/compare-copy.ts'
import { emptyCopy, type Get, sync } from '../sync/copy.ts'

// Random histories: test/histories/histories.test.ts.

const db = database()

/** A key, and two brands with answers a year ago, half a year ago and yesterday that have one of everything. */
async function sample() {
  const org = await organization(db)
  const { key } = await exportKey(db, org)
  const brands: string[] = []
  const answers: string[] = []
  const said = await place(db)
  for (const name of ['Acme', 'Globex']) {
    const id = await brand(db, org, { name })
    await insert(db, 'competitors', [{ brand_id: id, name: 'Initech' }])
    const asked = await prompt(db, id)
    for (const age of [365, 180, 1])
      answers.push(
        await answer(db, {
          ...said,
          prompt: asked,
          at: `${daysAgo(age)}T09:00:00Z`,
          mentions: [name],
          citations: [{ url: 'https://site.example/' }],
          phrases: [{ polarity: 'positive', confidence: '0.5' }],
          judged: [{ competitor: null, recommended: true }],
        }),
      )
    brands.push(id)
  }
  await refresh(db)
  return { key, brands, answers }
}

/** Sends requests with a key. */
const requestsOf =
  (key: string): Get =>
  async (path, query) => {
    const page = await call(path, { key, query })
    if (page.status !== 200) throw new Error(`${path} answered ${page.status}: ${page.text}`)
    return page
  }

test('a brand that returns has in its own list what changed meanwhile, before the token of all brands', async () => {
  const { key, brands, answers } = await sample()
  const [returning = '', other = ''] = brands
  const copy = emptyCopy(returning)
  await sync(requestsOf(key), copy)
  const change = async (id: string | undefined) => {
    await db.query(`update answers set error = 'withdrawn' where id = $1`, [id])
    await refresh(db)
  }
  const setActive = (active: boolean) =>
    db.query('update brands set active = $2 where id = $1', [returning, active])

  await setActive(false)
  await change(answers[0])
  await change(answers[3])
  const changes = await pull('/changes', { key })
  expect(new Set(changes.map(({ brand_id }) => brand_id))).toEqual(new Set([other]))
  await setActive(true)
  const token = String(changes.at(-1)?.changed_at)
  expect(await pull('/changes', { key, query: { since: token } })).toEqual([])

  delete copy.since
  await sync(requestsOf(key), copy)
  expect(await inexact(db, copy)).toEqual([])
})
