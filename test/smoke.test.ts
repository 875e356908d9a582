import { expect, test } from 'vitest'
import { call } from './support/call.ts'
import { answer, brand, database, exportKey, organization, place, prompt, refresh } from './support/world.ts'

test('serves a page of what was inserted', async () => {
  const db = database()
  const org = await organization(db)
  const { key } = await exportKey(db, org)
  const brandId = await brand(db, org)
  const at = await place(db)
  await answer(db, {
    ...at,
    prompt: await prompt(db, brandId),
    at: '2026-11-01T12:00:00Z',
    mentions: ['ACME '],
  })
  await refresh(db)
  const page = await call('/visibility', {
    key,
    query: { brandId, fromDate: '2026-11-01', toDate: '2026-11-01' },
  })
  expect(page.data).toEqual([
    expect.objectContaining({ date: '2026-11-01', total_prompts: 1, visible_count: 1 }),
  ])
})
