import type { Formula } from '../../lib/operation.ts'
import { type CompiledFormula, sum } from '../../site/browser/evaluate-formula.ts'
import { javascript, toCode } from '../../site/formula.ts'

/** Compiles a formula like the page's script. */
export function compileFormula({ part, whole }: Pick<Formula, 'part' | 'whole'>): CompiledFormula {
  const toFunction = (side: string) =>
    new Function('sum', `return (rows) => ${toCode(side, javascript('rows'))}`)(sum)
  return { part: toFunction(part), whole: toFunction(whole) }
}
