import type { PgView } from 'drizzle-orm/pg-core'

/** A change of a view's SQL: the piece that changes, what becomes of it, and how often the piece occurs when not once. */
type Change = { readonly sql: string; readonly becomes: string; readonly times?: number }

/**
 * What a server may lack: collations of ICU; conversions to other encodings, where the embedded one stops to answer at a
 * character that an encoding has not.
 */
export type Ability = 'ICU' | 'encodings'

/** A change that must make a test fail, named in full; of the view's own test file unless said otherwise. */
export type Mutant = Change & { readonly fails: string; readonly file?: string; readonly needs?: Ability }

/** A change that nothing can tell, and why. */
export type Twin = Change & { readonly same: string }

/** A view with every change of it that was thought of. */
export type MutatedView = {
  readonly view: PgView
  /** The test file, below test/ and without its ending. */
  readonly file: string
  readonly mutants: readonly (Mutant | Twin)[]
}
