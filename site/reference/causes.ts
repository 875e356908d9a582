/** What each kind of cause in `/changes` means, after a number of days that changed (docs/specification.md, Causes). */
const CAUSES: ReadonlyMap<string, string> = new Map([
  ['answers', 'by new or edited answers'],
  ['mentions', 'by late or edited mentions'],
  ['citations', 'by late or edited citations'],
  ['sentiment', 'by late or edited phrases'],
  ['recommendations', 'by late or edited recommendations'],
  ['prompts', 'because a prompt was retired or edited'],
  ['brands', 'because the brand changed'],
  ['competitors', 'because a competitor changed'],
  ['models', 'because a model changed'],
  ['markets', 'because a market changed'],
  ['recomputed', 'computed again without a known change'],
  ['relisted', 'listed again without a change'],
])

/** Returns what a kind of cause means, after a number of days; of one that is not known, its name. */
export const describeCause = (cause: string): string => CAUSES.get(cause) ?? `by ${cause}`
