import type { Formula } from '../lib/operation.ts'
import { type CompiledFormula, sum } from './browser/formula-sums.ts'
import { toFunctionCode } from './formula.ts'

/** Compiles a formula of the OpenAPI document. The page's script has functions that were compiled when it was built. */
export function compileFormula({ part, whole }: Pick<Formula, 'part' | 'whole'>): CompiledFormula {
  const toFunction = (side: string) => new Function('sum', `return ${toFunctionCode(side)}`)(sum)
  return { part: toFunction(part), whole: toFunction(whole) }
}
