import { createElement, find } from '../../../../../charts/elements.ts'
import type { BrandReport } from '../report-data.ts'
import { brandSection, sectionId } from './brand-section.ts'

/** The periods to choose from, in days. */
const PERIODS: Readonly<Record<string, number | undefined>> = {
  'All days': undefined,
  'Last 90 days': 90,
  'Last 30 days': 30,
}

/** Shows the data of the page. */
export function main(): void {
  const brands: readonly BrandReport[] = JSON.parse(find(HTMLElement, '#data').textContent)
  const period = find(HTMLSelectElement, '#period')
  const content = find(HTMLElement, 'main')
  const show = () =>
    content.replaceChildren(...brands.map((brand) => brandSection(brand, PERIODS[period.value])))

  period.append(...Object.keys(PERIODS).map((name) => createElement('option', {}, [name])))
  period.addEventListener('change', show)
  find(HTMLElement, 'nav ul').append(
    ...brands.map((brand) =>
      createElement('li', {}, [createElement('a', { href: `#${sectionId(brand)}` }, [brand.name])]),
    ),
  )
  show()
}
