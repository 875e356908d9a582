import type { ChartState } from '../charts/chart.ts'
import { findAll, select } from '../charts/elements.ts'
import { brandSection, type View } from './brand-section.ts'
import type { BrandReport } from './report-data.ts'

/** The fields to filter by, and what they are called. */
const FILTERS = { model_id: 'Model', market: 'Market' }

type Shown = Omit<View, 'period' | 'where' | 'states'> & {
  readonly periods: readonly string[]
  /** The period that is shown unless another is chosen. */
  readonly period: string
  /** What the reader chose, by `period` and the fields to filter by. The controls change it. */
  readonly chosen: URLSearchParams
  /** Called after the reader chose something. */
  readonly onChange?: () => void
  readonly controls: HTMLElement
  readonly main: HTMLElement
}

/**
 * Returns a function that shows brands over a period, with controls to choose it, a model and a market. What the reader
 * chose stays when it is called again with more rows.
 */
export function showBrands({ periods, period: usual, chosen, onChange, controls, main, ...options }: Shown) {
  const states = new Map<string, ChartState>()
  let brands: readonly BrandReport[] = []
  const valuesOf = (field: string) => {
    const cells = brands.flatMap(({ metrics }) => metrics.flatMap(({ sums }) => sums.cells))
    return [...new Set(cells.flatMap(({ values }) => values[field] ?? []))].sort()
  }
  const chosenOf = (name: string, values: readonly string[]) =>
    values.find((value) => value === chosen.get(name))

  function show(): void {
    const period = chosenOf('period', periods) ?? usual
    const where: Record<string, string> = {}
    for (const field of Object.keys(FILTERS)) {
      const value = chosenOf(field, valuesOf(field))
      if (value !== undefined) where[field] = value
    }
    const view = { ...options, period, where, states }
    const isOpen = main.querySelector('#report[open]') !== null
    main.replaceChildren(...brands.map((brand) => brandSection(brand, view)))
    for (const report of findAll(HTMLDetailsElement, '#report', main)) report.open = isOpen
  }

  function control(name: string, label: string, values: readonly string[], initial: string): HTMLElement {
    return select(label, values, chosenOf(name, values) ?? initial, (value) => {
      value === initial ? chosen.delete(name) : chosen.set(name, value)
      show()
      onChange?.()
    })
  }
  return (shown: readonly BrandReport[]): void => {
    const isFirst = brands.length === 0
    brands = shown
    // Later rows have the same models and markets, and a control can have the focus.
    if (isFirst)
      controls.replaceChildren(
        control('period', 'Period', periods, usual),
        ...Object.entries(FILTERS).map(([field, label]) => {
          const all = `All ${label.toLowerCase()}s`
          return control(field, label, [all, ...valuesOf(field)], all)
        }),
      )
    show()
  }
}
