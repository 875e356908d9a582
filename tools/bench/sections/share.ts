import { withBrandYear } from '../brand-year.ts'
import { withoutParallelWorkers } from '../cpu.ts'
import type { Section } from '../section.ts'
import { measureDelay } from '../share/delay.ts'
import { dollarsOfPeriods, dollarsOfReaders, dollarsOfWrites } from '../share/dollars.ts'
import { measureManyBrands } from '../share/many-brands.ts'
import { compareWithPages, measureMemory, publishYear } from '../share/publishing.ts'
import { measureReading } from '../share/reading.ts'

/** What the share costs: to read it, to publish it, and until a change is in a file. */
export const section: Section = async (setting) => {
  const ofYear = await withBrandYear(setting, async (year) => {
    const { report } = setting
    await withoutParallelWorkers(year.client)
    report('the first publish')
    const published = await publishYear(year)
    report('the official client')
    const reading = await measureReading(year, published)
    report('changed days')
    const changed = await compareWithPages(year)
    report('memory')
    const memory = await measureMemory(year, { ...setting, published })
    return [
      reading.table,
      changed,
      memory,
      dollarsOfPeriods(published),
      dollarsOfReaders(published, reading),
      ...dollarsOfWrites(published),
    ]
  })
  return [...ofYear, await measureManyBrands(setting), await measureDelay(setting)]
}
