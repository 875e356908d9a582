/** One demo brand: what the application would know of it, and how its numbers move. */
export interface DemoBrand {
  readonly slug: string
  readonly organization: 'enterprise' | 'agency' | 'pro'
  readonly name: string
  readonly displayName: string
  /** Its own domain; the site is served at www of it. */
  readonly domain: string
  readonly industry: string | null
  readonly aliases: readonly string[]
  readonly active: boolean
  /** Share of the daily runs (prompt × model × market) that are really made. */
  readonly sampling: number
  readonly pull: Pull
  /** Share of positive phrases at the start of a cycle and what a whole cycle adds; `quiet` leaves gaps. */
  readonly mood: { readonly level: number; readonly rise: number; readonly quiet: boolean }
  readonly competitors: readonly DemoCompetitor[]
  /** Names that answers give and nobody tracks; at most seven with the competitors (mentions.ts has dice for eight). */
  readonly untracked: readonly string[]
  readonly prompts: readonly DemoPrompt[]
  /** Others' domains that answers cite. */
  readonly sources: readonly string[]
  /** The one of the sources that becomes the brand's own in the middle of each quarter, up to its end. */
  readonly magazine?: string
  /** What the cited pages are about, as URL slugs. */
  readonly topics: readonly string[]
}

/** How often an answer names someone: the chance at the start of a cycle, and what a whole cycle adds. */
interface Pull {
  readonly level: number
  readonly rise: number
}

interface DemoCompetitor extends Pull {
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
