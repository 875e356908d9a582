import { button, createElement, find } from '../../../../site/charts/elements.ts'
import { whyItMoved } from '../../../../site/charts/why.ts'
import { sectionId } from '../../../../site/report/brand-section.ts'
import { showBrands } from '../../../../site/report/brands.ts'
import { periodsOf } from '../../../../site/report/periods.ts'
import type { BrandReport } from '../../../../site/report/report-data.ts'

/** Shows the data of the page. */
export function main(): void {
  const brands: readonly BrandReport[] = JSON.parse(find(HTMLElement, '#data').textContent)
  const { names: periods, longest: period } = periodsOf(brands.flatMap(({ days }) => days ?? []))
  const controls = find(HTMLElement, '#controls')
  const options = {
    period,
    periods,
    chosen: new URLSearchParams(),
    source: 'export-api report',
    explain: whyItMoved,
    isFolded: false,
  }
  showBrands({ ...options, controls, main: find(HTMLElement, 'main') })(brands)
  controls.append(button('Print', () => print()))
  const links = brands.map((brand) => createElement('a', { href: `#${sectionId(brand)}` }, [brand.name]))
  if (links.length > 1) find(HTMLElement, 'nav').append(...links)
}
