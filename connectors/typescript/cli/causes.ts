import { meaningOf } from '../../../site/reference/causes.ts'
import type { ChangedDay } from '../src/index.ts'
import { counted, formatNumber } from './text.ts'

/** The kinds of causes of each day of a brand that changed. */
export type ChangedDays = Map<string, ReadonlySet<string>>

/** Adds a day that changed after a `changedAt`, with the causes that are later. */
export function addCauses(days: ChangedDays, { brandId, date, causes }: ChangedDay, since: string): void {
  const key = `${brandId}/${date}`
  const later = Object.keys(causes).filter((cause) => (causes[cause] ?? '') > since)
  days.set(key, new Set([...(days.get(key) ?? []), ...later]))
}

/** Returns a sentence that says why days changed, with the most frequent cause first. A day can have several. */
export function describeCauses(days: ChangedDays): string {
  const counts = new Map<string, number>()
  for (const causes of days.values())
    for (const cause of causes) counts.set(cause, (counts.get(cause) ?? 0) + 1)
  const reasons = [...counts]
    .sort(([, left], [, right]) => right - left)
    .map(([cause, count]) => `${formatNumber(count)} ${meaningOf(cause)}`)
  return `${counted(days.size, 'day')} changed: ${reasons.join(', ')}.`
}
