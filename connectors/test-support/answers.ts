import type pg from 'pg'
import { expect } from 'vitest'
import { place, refresh } from '../../test/fixtures/rows.ts'
import { answeredDays, type Scene } from '../../test/fixtures/scene.ts'

/** First and last day of the answers: 20 days, of which 16 are in October. */
export const DAYS = { first: '2026-09-27', last: '2026-10-16' }

/** A day after them that had an answer once: every endpoint lists it as empty. */
export const EMPTIED = '2026-11-20'

/** A scene, and the model of its other answers. */
export type Answered = Scene & { readonly otherModel: string }

/**
 * Adds a brand with an answer at midnight of each day, and at noon three other answers on October 1st and one on October
 * 15th. The average of daily rates is another number than the rate of a month.
 */
export async function brandWithAnswers(db: pg.Pool): Promise<Answered> {
  const its = await answeredDays(db, { first: DAYS.first, days: 20 })
  const { rows } = await db.query<{ id: string }>('select id from competitors where brand_id = $1', [
    its.brandId,
  ])
  const other = await place(db)
  const said = {
    ...other,
    citations: [{ url: 'https://acme.example/', domain: 'acme.example', owned: true }],
    phrases: [{ polarity: 'negative', confidence: '0.1001' }],
    judged: [
      { competitor: null, recommended: false },
      { competitor: rows[0]?.id ?? '', recommended: true },
    ],
  }
  for (const day of ['2026-10-01', '2026-10-01', '2026-10-01', '2026-10-15'])
    await its.say(`${day}T12:00:00Z`, said)
  const gone = await its.say(`${EMPTIED}T00:00:00Z`, { mentions: ['Acme'], ...said })
  await refresh(db)
  await db.query('delete from answers where id = $1', [gone])
  await refresh(db)
  return { ...its, otherModel: other.model }
}

/** Figures of a stream by what they are of. Tests compare them apart from their last digits. */
export type Figures = Readonly<Record<string, Readonly<Record<string, number>>>>

/** Returns the figures of a period with so many answers of midnight and of noon. */
export function figuresOfAnswers({ model, otherModel }: Answered, midnight: number, noon: number): Figures {
  const rate = expect.closeTo((100 * midnight) / (midnight + noon), 9)
  const rest = expect.closeTo((100 * noon) / (midnight + noon), 9)
  return {
    visibility: { '': rate },
    visibility_by_model_id: { [model]: 100, ...(noon > 0 && { [otherModel]: 0 }) },
    competitors: { Rival: rate },
    citation_share: { '': rest },
    sentiment: { '': rate },
    recommended_rate: { 'true Acme': rate, 'false Rival': rest },
  }
}
