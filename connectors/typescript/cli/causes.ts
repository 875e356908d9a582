import { describeCause } from '../../../site/reference/causes.ts'
import type { ChangedDay } from '../src/index.ts'
import { dayKey } from './files.ts'
import { counted, formatNumber } from './text.ts'

/** The kinds of causes of each day of a brand that changed. */
export type ChangedDays = Map<string, ReadonlySet<string>>

/** Returns the kinds of causes of a day that are later than a `changedAt`; none when the brand was not read before. */
export const causesSince = ({ causes }: Pick<ChangedDay, 'causes'>, since: string | null): string[] =>
  Object.keys(causes).filter((cause) => since !== null && (causes[cause] ?? '') > since)

/** Adds a day that changed after a `changedAt`, with the causes that are later. */
export function addCauses(days: ChangedDays, day: ChangedDay, since: string): void {
  const key = dayKey(day.brandId, day.date)
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
