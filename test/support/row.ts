import * as z from 'zod/mini'
import { count, day, flag, instant, nullable, rate, text, uuid, weight } from '../../lib/schemas.ts'

/** A row with a field of each type. */
export const Row = z.object({
  date: day('A day.'),
  id: uuid('An identifier.'),
  at: instant('An instant.'),
  name: text('A name.'),
  domain: nullable(text('A domain.')),
  answers: count('Answers.'),
  share: rate('A share.'),
  sum: weight('A sum.'),
  score: nullable(rate('A score.')),
  owned: flag('Whether.'),
})

export const ID = '11111111-1111-1111-1111-111111111111'
export const AT = '2026-10-01T12:00:00.120Z'

/** Two rows as a statement returns them. */
export const RESULT = {
  cells_date: '2026-10-01,2026-10-02',
  cells_id: `${ID},${ID}`,
  cells_at: `${AT},${AT}`,
  cells_name: 'Acme, Inc.\u007f,null',
  cells_domain: 'a.example\u007f,\u007fN',
  cells_answers: '3,0',
  cells_share: '33.3333,0.0000',
  cells_sum: '12345678901234.5000,0.0000',
  cells_score: '100.0000,null',
  cells_owned: 'true,false',
}
