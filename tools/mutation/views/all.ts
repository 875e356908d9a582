import { BRAND_LISTING } from './brand-listing.ts'
import { CITATION_SHARE } from './citation-share.ts'
import { CITATIONS } from './citations.ts'
import { COMPETITORS } from './competitors.ts'
import { COUNTED_ANSWERS } from './counted-answers.ts'
import type { MutatedView } from './mutant.ts'
import { BRAND_NAMES, COMPETITOR_NAMES } from './names.ts'
import { RECOMMENDED_RATE } from './recommended-rate.ts'
import { SENTIMENT } from './sentiment.ts'
import { VISIBILITY } from './visibility.ts'

/** Every view with its mutants; a test sees to it that none is missing. */
export const VIEWS: readonly MutatedView[] = [
  COUNTED_ANSWERS,
  BRAND_NAMES,
  COMPETITOR_NAMES,
  VISIBILITY,
  COMPETITORS,
  CITATIONS,
  CITATION_SHARE,
  SENTIMENT,
  RECOMMENDED_RATE,
  BRAND_LISTING,
]
