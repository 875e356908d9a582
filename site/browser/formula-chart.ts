import type { ChartState } from '../charts/chart.ts'
import { createElement } from '../charts/elements.ts'
import { halvesOf, splitsOf } from '../charts/lines.ts'
import { addRows, brandCell, hasParts, type Sums } from '../charts/sums.ts'
import type { Change } from '../charts/why.ts'
import type { Endpoint } from '../reference/endpoint.ts'
import { completeDays, type LoadedRows } from './loaded-rows.ts'

/** The brand among its competitors: its name, and the sums of its own visibility. */
export type Brand = { readonly name: string; readonly sums: Sums }

type Charted = {
  readonly loaded: LoadedRows
  readonly brand: Brand | undefined
  /** What the reader chose in the last chart, which this chart changes. */
  readonly state: ChartState
}

/** Renders the chart of an endpoint's formula over the loaded rows, if it has both. The first one loads the library. */
export async function formulaChart(
  { summary, formula }: Endpoint,
  { loaded, brand, state }: Charted,
): Promise<Node[]> {
  if (formula === undefined || loaded.rows.length === 0) return []
  // A new version of the service has other files.
  const library = await import('../charts/chart.ts').catch(() => undefined)
  if (library === undefined) return [createElement('p', {}, ['The chart did not load. Reload the page.'])]
  const adder = addRows(formula)
  for (const row of completeDays(loaded)) adder.add(row)
  const { days, cells } = adder.result()
  const note =
    loaded.next === null ? '' : `Rows of ${loaded.rows.at(-1)?.date} can continue on the next page.`
  const sums = { days, cells: brand ? [brandCell(brand.sums, days, brand.name), ...cells] : cells }
  const splits = splitsOf({ formula, title: summary })
  const halves = hasParts(sums) ? halvesOf(days) : undefined
  const explanation =
    halves && (() => explainLater({ title: summary, label: summary, splits, sums, ...halves }))
  return [library.chart({ title: summary, note, splits, sums, explanation, state })]
}

/** Renders why a rate moved from one half of the days to the other, as soon as that part of the page is loaded. */
function explainLater(change: Change): Node {
  const element = createElement('div', { class: 'inset' })
  import('../charts/why.ts')
    .then(({ whyItMoved, joinRareDomains }) =>
      element.append(whyItMoved({ ...change, sums: joinRareDomains(change.sums) })),
    )
    .catch(() => element.append(createElement('p', {}, ['This part did not load. Reload the page.'])))
  return element
}
