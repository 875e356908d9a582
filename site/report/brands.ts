import type { ChartState } from '../charts/chart.ts'
import { select } from '../charts/elements.ts'
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

/** Returns a function that shows brands over a period, with controls to choose it, a model and a market. */
export function showBrands({ periods, period: usual, chosen, onChange, controls, main, ...options }: Shown) {
  const states = new Map<string, ChartState>()
  return (brands: readonly BrandReport[]): void => {
    const cells = brands.flatMap(({ metrics }) => metrics.flatMap(({ sums }) => sums.cells))
    const valuesOf = (field: string) =>
      [...new Set(cells.flatMap(({ values }) => values[field] ?? []))].sort()
    const chosenOf = (name: string, values: readonly string[]) =>
      values.find((value) => value === chosen.get(name))

    function show(): void {
      const period = chosenOf('period', periods) ?? usual
      const where = Object.fromEntries(
        Object.keys(FILTERS).flatMap((field) => {
          const value = chosenOf(field, valuesOf(field))
          return value === undefined ? [] : [[field, value]]
        }),
      )
      const view = { ...options, period, where, states }
      main.replaceChildren(...brands.map((brand) => brandSection(brand, view)))
    }

    function control(name: string, label: string, values: readonly string[], initial: string): HTMLElement {
      return select(label, values, chosenOf(name, values) ?? initial, (value) => {
        value === initial ? chosen.delete(name) : chosen.set(name, value)
        show()
        onChange?.()
      })
    }
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
