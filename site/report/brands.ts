import { findAll, select } from '../charts/elements.ts'
import { brandSection, type View } from './brand-section.ts'
import type { BrandReport } from './report-data.ts'

/** The fields to filter by, and what they are called. */
const FILTERS = { model_id: 'Model', market: 'Market' }

type Shown = Omit<View, 'where' | 'states'> & {
  /** The periods to choose from. */
  readonly periods: readonly string[]
  readonly controls: HTMLElement
  readonly main: HTMLElement
}

/**
 * Returns a function that shows brands over a period, with controls to choose it, a model and a market. What the reader
 * chose stays when it is called again with more rows.
 */
export function showBrands({ periods, controls, main, ...options }: Shown) {
  const [states, where] = [new Map(), new Map<string, string>()]
  let [period, brands]: [string, readonly BrandReport[]] = [options.period, []]

  function show(): void {
    const view = { ...options, period, where: Object.fromEntries(where), states }
    const isOpen = main.querySelector('#report[open]') !== null
    main.replaceChildren(...brands.map((brand) => brandSection(brand, view)))
    for (const report of findAll(HTMLDetailsElement, '#report', main)) report.open = isOpen
  }

  function filter([field, label]: [string, string]): HTMLElement {
    const all = `All ${label.toLowerCase()}s`
    const cells = brands.flatMap(({ metrics }) => metrics.flatMap(({ sums }) => sums.cells))
    const values = new Set(cells.flatMap(({ values }) => values[field] ?? []))
    return select(label, [all, ...[...values].sort()], where.get(field) ?? all, (value) => {
      value === all ? where.delete(field) : where.set(field, value)
      show()
    })
  }
  const choosePeriod = (name: string) => {
    period = name
    show()
  }
  return (shown: readonly BrandReport[]) => {
    const isFirst = brands.length === 0
    brands = shown
    // Later rows have the same models and markets, and a control can have the focus.
    if (isFirst)
      controls.replaceChildren(
        select('Period', periods, period, choosePeriod),
        ...Object.entries(FILTERS).map(filter),
      )
    show()
  }
}
