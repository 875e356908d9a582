import { type FormulaSums, formulaSums } from '../../../../charts/formula-sums.ts'
import { firstSentence } from '../../../../reference/first-sentence.ts'
import { fieldsOf } from '../../../../reference/formula.ts'
import type { Formula, Stream } from '../streams.ts'
import { type Files, readMetric } from './read-files.ts'
import type { MetricReport } from './report-data.ts'

type Metric = Stream & { readonly formula: Formula }

/** Adds up the formula of a metric over its files. The line of the brand comes before those of its competitors. */
export async function readFormula(files: Files, stream: Metric, brandName: unknown): Promise<MetricReport> {
  const { title, formula, columns } = stream
  const { part, whole, per, breakdown } = formula
  const sums = formulaSums({ formula, name: title })
  const names = ['date', per, breakdown, ...fieldsOf(part), ...fieldsOf(whole)]
  const needed = columns.filter(({ name }) => names.includes(name))
  for await (const row of readMetric(files, { ...stream, columns: needed })) sums.add(row)
  const hasBrand = columns.some(({ name }) => name === 'is_brand')
  const result = hasBrand ? withLead(sums.result(), brandName) : sums.result()
  return { title, about: aboutOf(stream), sums: result }
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
