import * as z from 'zod/mini'
import { PAID_PLANS } from '../../../lib/access/plans.ts'
import { CURSOR } from '../../../lib/page/cursor.ts'
import { flag, instant, nullable, text, uuid } from '../../../lib/rows/schema.ts'
import { PAGE_SIZE } from '../../../lib/rows/size.ts'

/** The `pagination` member of a page (docs/specification.md, Paging). */
export const Pagination = z.object({
  pageSize: z.literal(PAGE_SIZE).check(z.meta({ description: 'Maximum number of rows per page.' })),
  hasMore: flag('Whether another page follows.'),
  nextCursor: z
    .nullable(z.string().check(z.regex(new RegExp(`^${CURSOR}$`))))
    .check(z.meta({ description: 'Send it as `cursor` to get the next page. Null on the last page.' })),
})

/** The `meta` member of a page (docs/specification.md, Paging). */
export const Meta = z.object({
  brandId: nullable(uuid('The requested brand. Null for every brand, on `/changes` without `brandId`.')),
  fromDate: instant('Start of the window. Later than requested when the plan limits the window.'),
  toDate: instant(
    'End of the window, inclusive: the last millisecond of `toDate`. Without `toDate` it is the time of the first request, or the end of 9999-12-31 for `/changes`.',
  ),
  plan: z.enum(PAID_PLANS).check(z.meta({ description: "Plan of the key's organization." })),
})

/** The body of every error (docs/specification.md, Errors). */
export const ErrorBody = z.object({
  error: text('What failed, then what to do. Messages can change: use the status in programs.'),
})
