import type { ORGANIZATIONS } from './organizations.ts'

/** A demo brand: its records in the application, and how its metrics develop. */
export interface DemoBrand {
  readonly slug: string
  readonly organization: keyof typeof ORGANIZATIONS
  readonly name: string
  readonly displayName: string
  /** Domain of the brand. Its site is on the `www` host. */
  readonly domain: string
  readonly industry: string | null
  readonly aliases: readonly string[]
  readonly active: boolean
  /** Share of the daily runs (prompt × model × market) that exist. */
  readonly sampling: number
  readonly mentionRate: Rate
  /** Share of positive phrases. With `hasGaps`, some days have neutral phrases only, or none. */
  readonly sentiment: Rate & { readonly hasGaps: boolean }
  readonly competitors: readonly DemoCompetitor[]
  /** Names in answers that are not tracked. With the competitors at most seven: `mentions.ts` has random bytes for eight. */
  readonly untracked: readonly string[]
  readonly prompts: readonly DemoPrompt[]
  /** Domains of other sites that answers cite, separated by white space. */
  readonly citedDomains: string
  /** Cited domain that the brand owns from the middle of each quarter to its end. */
  readonly sponsoredDomain?: string
  /** Topics of the cited pages, as URL slugs separated by white space. */
  readonly topics: string
}

/** A probability at the start of a cycle, and its change over the whole cycle. */
interface Rate {
  readonly level: number
  readonly rise: number
}

interface DemoCompetitor extends Rate {
  readonly name: string
  readonly aliases: readonly string[]
  readonly active?: boolean
}

interface DemoPrompt {
  readonly text: string
  readonly branded?: true
  readonly counts?: false
  readonly retiredAt?: string
}
