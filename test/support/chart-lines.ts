import { type DailyLines, dailyLines } from '../../charts/daily-lines.ts'
import { formulaSums, type Metric, type Row } from '../../charts/formula-sums.ts'

/** Returns the lines of the chart of a formula over rows. */
export function chartLines({ rows, ...metric }: Metric & { readonly rows: readonly Row[] }): DailyLines {
  const sums = formulaSums(metric)
  for (const row of rows) sums.add(row)
  return dailyLines(sums.result())
}

/** Returns the figure of each line by its name. */
export const figuresOf = ({ lines }: DailyLines): Map<string, number | null> =>
  new Map(lines.map(({ name, figure }) => [name, figure]))
