import type { Unit } from '../../../../../charts/chart-lines.ts'
import { createElement, find } from '../../../../../charts/elements.ts'
import { PERIOD_NAMES } from '../periods.ts'
import type { BrandReport } from '../report-data.ts'
import { brandSection, sectionId } from './brand-section.ts'

/** The points to choose from. By default, they follow from the number of days. */
const UNITS: Readonly<Record<string, Unit | undefined>> = { Automatic: undefined, Days: 'day', Weeks: 'week' }

/** Shows the data of the page. */
export function main(): void {
  const brands: readonly BrandReport[] = JSON.parse(find(HTMLElement, '#data').textContent)
  const content = find(HTMLElement, 'main')
  const select = (id: string, names: readonly string[]) => {
    const element = find(HTMLSelectElement, id)
    element.append(...names.map((name) => createElement('option', {}, [name])))
    element.addEventListener('change', show)
    return element
  }
  const period = select('#period', PERIOD_NAMES)
  const unit = select('#unit', Object.keys(UNITS))
  function show(): void {
    const view = { period: period.value, unit: UNITS[unit.value] }
    content.replaceChildren(...brands.map((brand) => brandSection(brand, view)))
  }

  find(HTMLElement, 'nav ul').append(
    ...brands.map((brand) =>
      createElement('li', {}, [createElement('a', { href: `#${sectionId(brand)}` }, [brand.name])]),
    ),
  )
  show()
}
