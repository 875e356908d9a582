import { type FormulaSums, formulaSums } from '../../../../charts/formula-sums.ts'
import { firstSentence } from '../../../../reference/first-sentence.ts'
import { fieldsOf } from '../../../../reference/formula.ts'
import type { MetricTable } from '../copy.ts'
import type { Formula, Stream } from '../streams.ts'
import { readTable } from './read-files.ts'
import type { MetricReport } from './report-data.ts'

type Metric = Stream & { readonly formula: Formula }

/** Adds up the formula of a metric for each brand. The line of the brand comes before those of its competitors. */
export async function readFormula(
  table: MetricTable,
  stream: Metric,
  nameOf: (brandId: string) => unknown,
): Promise<(brandId: string) => MetricReport> {
  const { title, formula, columns } = stream
  const { part, whole, per, breakdown } = formula
  const brands = new Map<string, ReturnType<typeof formulaSums>>()
  const sumsOf = (brandId: string) => brands.get(brandId) ?? formulaSums({ formula, name: title })
  const names = ['brand_id', 'date', per, breakdown, ...fieldsOf(part), ...fieldsOf(whole)]
  for await (const row of readTable(table, names)) {
    const brandId = String(row.brand_id)
    const sums = sumsOf(brandId)
    brands.set(brandId, sums)
    sums.add(row)
  }
  const hasBrand = columns.some(({ name }) => name === 'is_brand')
  return (brandId) => {
    const sums = sumsOf(brandId).result()
    return { title, about: aboutOf(stream), sums: hasBrand ? withLead(sums, nameOf(brandId)) : sums }
  }
}

/** Moves the line with this name to the front, where it stands apart. */
function withLead(sums: FormulaSums, name: unknown): FormulaSums {
  const lead = sums.lines.filter((line) => line.name === name)
  if (lead.length === 0) return sums
  return { ...sums, lead: true, lines: [...lead, ...sums.lines.filter((line) => !lead.includes(line))] }
}

/** Returns what a metric measures: the first sentence of its description, without its verb. */
function aboutOf({ description }: Pick<Stream, 'description'>): string {
  const what = firstSentence(description).replace(/^Returns /, '')
  return what.slice(0, 1).toUpperCase() + what.slice(1)
}
