import { chart } from '../../charts/chart.ts'
import { chartLines } from '../../charts/chart-lines.ts'
import { formulaSums } from '../../charts/formula-sums.ts'
import type { Endpoint } from '../../reference/reference.ts'
import { completeDays, type LoadedRows } from './loaded-rows.ts'

/**
 * Renders the chart of an endpoint's formula over the loaded rows, and keeps in `off` which lines are switched off.
 * Returns nothing without a formula or rows.
 */
export function formulaChart(
  { summary, formula }: Endpoint,
  loaded: LoadedRows,
  off: Set<string> | undefined,
): Node[] {
  if (formula === undefined || loaded.rows.length === 0) return []
  const sums = formulaSums({ formula, name: summary })
  for (const row of completeDays(loaded)) sums.add(row)
  const note =
    loaded.next === null ? '' : `Rows of ${loaded.rows.at(-1)?.date} can continue on the next page.`
  return [chart({ ...chartLines(sums.result()), title: summary, note, off })]
}
