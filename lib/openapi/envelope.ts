import * as z from 'zod/mini'
import { PAGE_SIZE } from '../page.ts'
import { PAID_PLANS } from '../plans.ts'
import { flag, instant, text, uuid } from '../schemas.ts'

/** What stands beside a page's rows: whether another page follows, and where (specification, section 2). */
export const Pagination = z.object({
  pageSize: z.literal(PAGE_SIZE).check(z.meta({ description: 'Rows of a full page.' })),
  hasMore: flag('Whether another page follows.'),
  nextCursor: z
    .nullable(z.string())
    .check(z.meta({ description: 'The `cursor` of the next page, opaque; null on the last page.' })),
})

/** What stands beside a page's rows: what was read (specification, section 2). */
export const Meta = z.object({
  brandId: uuid('The brand that was read.'),
  fromDate: instant('Start of the window actually read; later than requested when the plan moved it.'),
  toDate: instant(
    'Inclusive end of the window: the last millisecond of `toDate`, or the time of the first request.',
  ),
  plan: z.enum(PAID_PLANS).check(z.meta({ description: "Plan of the key's organization." })),
})

/** The body of every refusal (specification, section 2). */
export const ErrorBody = z.object({ error: text('What was wrong, in a sentence.') })
