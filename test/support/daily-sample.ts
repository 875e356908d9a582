import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { answer, brand, insert, organization, place, prompt, refresh } from './world.ts'

/** A brand with two competitors and an answer that has one of everything; its citation is recorded two days later. */
export async function sample(db: pg.Pool) {
  const org = await organization(db)
  const brandId = await brand(db, org)
  const [competitor, newcomer] = [randomUUID(), randomUUID()]
  await insert(db, 'competitors', [
    { id: competitor, brand_id: brandId, name: 'Globex' },
    { id: newcomer, brand_id: brandId, name: 'Initech' },
  ])
  const said = {
    ...(await place(db)),
    prompt: await prompt(db, brandId),
    mentions: ['Acme', 'Globex'],
    citations: [{ url: 'https://site.example/', recordedAt: '2026-10-03T09:00:00Z' }],
    phrases: [{ polarity: 'positive', confidence: '0.5' }],
    judged: [
      { competitor: null, recommended: true },
      { competitor, recommended: false },
    ],
  }
  const answerId = await answer(db, { ...said, at: '2026-10-01T09:00:00Z' })
  await refresh(db)
  return { organization: org.id, brand: brandId, competitor, newcomer, answer: answerId, said }
}
