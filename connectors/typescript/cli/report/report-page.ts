import { button, createElement, find, select } from '../../../../site/charts/elements.ts'
import { brandSection, sectionId } from '../../../../site/report/brand-section.ts'
import { periodsOf } from '../../../../site/report/periods.ts'
import type { BrandReport } from '../../../../site/report/report-data.ts'

/** The fields to filter by, and what they are called. */
const FILTERS = { model_id: 'Model', market: 'Market' }

/** Shows the data of the page. */
export function main(): void {
  const brands: readonly BrandReport[] = JSON.parse(find(HTMLElement, '#data').textContent)
  const { names, longest } = periodsOf(brands.flatMap(({ days }) => days ?? []))
  const [states, where] = [new Map(), new Map<string, string>()]
  let period = longest

  function show(): void {
    const view = { period, where: Object.fromEntries(where), states }
    find(HTMLElement, 'main').replaceChildren(...brands.map((brand) => brandSection(brand, view)))
  }

  const cells = brands.flatMap(({ metrics }) => metrics.flatMap(({ sums }) => sums.cells))
  const filters = Object.entries(FILTERS).map(([field, label]) => {
    const all = `All ${label.toLowerCase()}s`
    const values = new Set(cells.flatMap(({ values }) => values[field] ?? []))
    return select(label, [all, ...[...values].sort()], all, (value) => {
      value === all ? where.delete(field) : where.set(field, value)
      show()
    })
  })
  const choosePeriod = (name: string) => {
    period = name
    show()
  }
  find(HTMLElement, '#controls').append(
    select('Period', names, period, choosePeriod),
    ...filters,
    button('Print', () => print()),
  )
  const links = brands.map((brand) => createElement('a', { href: `#${sectionId(brand)}` }, [brand.name]))
  if (links.length > 1) find(HTMLElement, 'nav').append(...links)
  show()
}
