import type { FormulaSums } from '../../../../../charts/formula-sums.ts'

/** Returns the sums of the days from this one on. */
export function sumsFrom(sums: FormulaSums, firstDay: string): FormulaSums {
  const start = sums.days.filter((day) => day < firstDay).length
  return {
    ...sums,
    days: sums.days.slice(start),
    lines: sums.lines.map(({ name, part, whole }) => ({
      name,
      part: part.slice(start),
      whole: whole.slice(start),
    })),
  }
}
