import { describeCause } from '../../../site/reference/causes.ts'
import { requireCopy } from './copy.ts'
import { readTable } from './delta/read-table.ts'
import type { Progress } from './progress.ts'
import { describeDays, type Entry, readReplaced } from './replaced-days.ts'
import type { Store } from './store.ts'
import { formatMinute, formatNumber } from './text.ts'

/** Reports the days that syncs of a copy replaced. Throws `CommandError` when there is no copy. */
export async function runLog(
  store: Store,
  progress: Progress,
  { days: isByDay = false }: { readonly days?: boolean },
): Promise<void> {
  progress.begin(`Reading the log of ${store.location}`)
  const copy = await requireCopy(store)
  const names = new Map<string, string>()
  for await (const { id, name } of readTable(copy.brands)) names.set(String(id), String(name))
  const entries = await readReplaced(copy, { isByDay })
  for (const entry of entries)
    progress.notice('replaced', describe(entry, names.get(entry.brandId) ?? entry.brandId), entry)
  if (entries.length === 0) progress.notice('log', 'No sync has replaced a day.')
}

function describe({ time, table, causes, before, after, ...entry }: Entry, brand: string): string[] {
  const sums = Object.keys(after)
    .filter((field) => field in before && before[field] !== after[field])
    .map((field) => `${field} ${formatNumber(before[field] ?? 0)} → ${formatNumber(after[field] ?? 0)}`)
  const isComplete = Object.keys(before).length > 1 && Object.keys(after).length > 1
  const unknown = isComplete ? [] : ['the rows of one version are no longer there to add up']
  const what = [...sums, ...unknown].join(', ') || 'the sums are the same, and rows are not'
  return [
    [`${formatMinute(time)}: ${table} of ${brand}`, describeDays(entry), ...causes.map(describeCause)].join(
      ', ',
    ),
    `  ${what}`,
  ]
}
