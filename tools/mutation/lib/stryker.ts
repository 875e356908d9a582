/** What Stryker asks of a test runner, as far as this project's needs it: Stryker is installed only where it runs. */
export type TestRunner = {
  readonly capabilities: () => { readonly reloadEnvironment: boolean }
  readonly init: () => Promise<void>
  readonly dryRun: () => Promise<DryRun>
  readonly mutantRun: (options: MutantRun) => Promise<Outcome>
  readonly dispose: () => Promise<void>
}

/** A test by its id, and that it passes where no mutant is active. */
export type Known = {
  readonly id: string
  readonly name: string
  readonly timeSpentMs: number
  readonly status: 'success'
}

/** By test and mutant, how often the one reaches the other. */
export type Coverage = Readonly<Record<string, Readonly<Record<string, number>>>>

export type DryRun =
  | { readonly status: 'error'; readonly errorMessage: string }
  | {
      readonly status: 'complete'
      readonly tests: readonly Known[]
      readonly mutantCoverage: {
        readonly static: Readonly<Record<string, number>>
        readonly perTest: Coverage
      }
    }

export type MutantRun = {
  readonly testFilter?: readonly string[]
  readonly activeMutant: { readonly id: string; readonly fileName: string }
}

export type Outcome =
  | {
      readonly status: 'killed'
      readonly killedBy: readonly string[]
      readonly failureMessage: string
      readonly nrOfTests: number
    }
  | { readonly status: 'survived'; readonly nrOfTests: number }
