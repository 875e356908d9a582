import type { ChangedDay } from '../src/index.ts'
import { counted, formatNumber } from './text.ts'

/** The kinds of causes of each day of a brand that changed. */
export type ChangedDays = Map<string, ReadonlySet<string>>

/** Returns the kinds of causes of a day that are later than a `changedAt`; none when the brand was not read before. */
export const causesSince = ({ causes }: Pick<ChangedDay, 'causes'>, since: string | null): string[] =>
  Object.keys(causes).filter((cause) => since !== null && (causes[cause] ?? '') > since)

/** Adds a day that changed after a `changedAt`, with the causes that are later. */
export function addCauses(days: ChangedDays, day: ChangedDay, since: string): void {
  const key = `${day.brandId}/${day.date}`
  days.set(key, new Set([...(days.get(key) ?? []), ...causesSince(day, since)]))
}

/** Returns a sentence that says why days changed, with the most frequent cause first. A day can have several. */
export function describeCauses(days: ChangedDays): string {
  const counts = new Map<string, number>()
  for (const causes of days.values())
    for (const cause of causes) counts.set(cause, (counts.get(cause) ?? 0) + 1)
  const reasons = [...counts]
    .sort(([, left], [, right]) => right - left)
    .map(([cause, count]) => `${formatNumber(count)} ${describeCause(cause)}`)
  return `${counted(days.size, 'day')} changed: ${reasons.join(', ')}.`
}

/** What each kind of cause in `/changes` means, after a number of days that changed (docs/specification.md, Causes). */
const CAUSES: ReadonlyMap<string, string> = new Map([
  ['answers', 'by new or edited answers'],
  ['mentions', 'by late or edited mentions'],
  ['citations', 'by late or edited citations'],
  ['sentiment', 'by late or edited phrases'],
  ['recommendations', 'by late or edited recommendations'],
  ['prompts', 'since a prompt was retired or edited'],
  ['brands', 'since a name of the brand changed'],
  ['competitors', 'since a competitor changed'],
  ['models', 'since a model changed'],
  ['markets', 'since a market changed'],
  ['recomputed', 'computed again without a known change'],
  ['relisted', 'listed again without a change'],
])

/** Returns what a kind of cause means; of one that is not known, its name. */
export const describeCause = (cause: string): string => CAUSES.get(cause) ?? `by ${cause}`
