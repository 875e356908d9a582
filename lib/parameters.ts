import * as z from 'zod/mini'
import { CURSOR } from './cursor.ts'
import { type HttpError, PARAMETER_ERRORS, parameterError } from './errors.ts'

const day = () => z.iso.date().check(z.refine((text) => !text.startsWith('0000')))

/** The query parameters of every endpoint that takes a brand. */
export const Parameters = z.object({
  brandId: z.guid().check(
    z.overwrite((id) => id.toLowerCase()),
    z.meta({ description: 'The brand: an `id` from `/brands`.' }),
  ),
  fromDate: z.optional(day()).check(
    z.meta({
      description:
        'First day of the window, in UTC. Default: 30 days before today. A day before the limit of your plan is not an error: the window starts at the limit, and `meta.fromDate` reports it.',
    }),
  ),
  toDate: z.optional(day()).check(
    z.meta({
      description:
        'Last day of the window, in UTC. Default: today, up to the time of the request. With a day before the default start, `fromDate` is required.',
    }),
  ),
  cursor: z.optional(z.string().check(z.regex(new RegExp(`^(${CURSOR})?$`)))).check(
    z.meta({
      description:
        'The `pagination.nextCursor` of the previous page, unchanged. Leave it out or empty for the first page, and keep the other parameters the same.',
    }),
  ),
})

export type Parameters = z.infer<typeof Parameters>

/** Whether a name is one of the known parameters. */
const isParameter = (name: unknown): name is keyof Parameters & string =>
  typeof name === 'string' && Object.hasOwn(Parameters.shape, name)

/** Parses a query string; returns a 400 for the first parameter that is repeated, missing or malformed. */
export function parseParameters(query: URLSearchParams): Parameters | HttpError {
  const names = Object.keys(Parameters.shape)
  const repeated = names.find((name) => query.getAll(name).length > 1)
  if (repeated !== undefined) return parameterError(PARAMETER_ERRORS.repeated(repeated))
  if (!query.has('brandId')) return parameterError(PARAMETER_ERRORS.missing('brandId'))

  const given = Object.fromEntries(names.map((name) => [name, query.get(name) ?? undefined]))
  const parsed = Parameters.safeParse(given)
  if (!parsed.success) {
    const name = parsed.error.issues[0]?.path[0]
    return parameterError(isParameter(name) ? PARAMETER_ERRORS[name] : PARAMETER_ERRORS.order)
  }
  const { fromDate, toDate, cursor } = parsed.data
  if (fromDate !== undefined && toDate !== undefined && fromDate > toDate) {
    return parameterError(PARAMETER_ERRORS.order)
  }
  // Tools with a fixed list of parameters send an empty cursor for the first page.
  return { ...parsed.data, cursor: cursor || undefined }
}
