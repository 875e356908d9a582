import { join } from 'node:path'
import { createVitest, type TestCase, type TestModule, type Vitest } from 'vitest/node'

/** What came of a run of some tests of one file. */
export type Ran = {
  readonly tests: readonly TestCase[]
  /** The first test that failed; the file itself where it could not be imported or prepared. */
  readonly failure: { readonly test: string | null; readonly message: string } | null
}

/** One vitest for many runs: what it starts for the first of them serves all. */
export type Runs = {
  readonly vitest: Vitest
  /** Runs tests of a file (below test/, without its ending): those of the given full names, or that match. */
  readonly run: (file: string, names: readonly string[] | RegExp) => Promise<Ran>
}

/** Opens vitest in a folder that has the project's files. */
export async function openRuns(
  root: string,
  options: NonNullable<Parameters<typeof createVitest>[1]>,
): Promise<Runs> {
  let tests: TestCase[] = []
  let modules: TestModule[] = []
  const vitest = await createVitest('test', {
    root,
    watch: false,
    pool: 'threads',
    maxWorkers: 1,
    // Heard of as they come: the runs' own result holds those of earlier runs too.
    reporters: [
      {
        onTestCaseResult: (test) => {
          tests.push(test)
        },
        onTestModuleEnd: (module) => {
          modules.push(module)
        },
      },
    ],
    ...options,
  })
  return {
    vitest,
    run: async (file, names) => {
      tests = []
      modules = []
      const exactly = (all: readonly string[]) => new RegExp(`^(?:${all.map(asSought).join('|')})$`)
      vitest.setGlobalTestNamePattern(names instanceof RegExp ? names : exactly(names))
      const path = join(root, 'test', `${file}.test.ts`)
      await vitest.runTestSpecifications([vitest.getRootProject().createSpecification(path)])
      const ran = tests.filter((test) => test.result().state !== 'skipped')
      return { tests: ran, failure: failureOf(ran, modules) }
    },
  }
}

function failureOf(tests: readonly TestCase[], modules: readonly TestModule[]): Ran['failure'] {
  const failed = tests.find((test) => test.result().state === 'failed')
  if (failed) return { test: failed.fullName, message: failed.result().errors?.[0]?.message ?? 'It failed' }
  if (modules.length === 1 && modules[0]?.state() !== 'failed') return null
  const [error] = modules.flatMap((module) => [
    ...module.errors(),
    ...[...module.children.allSuites()].flatMap((suite) => suite.errors()),
  ])
  return { test: null, message: error?.message ?? 'Its file could not be run' }
}

// Vitest joins the names of suites and test by " > " where it tells them, and by a space where it looks for them.
const asSought = (name: string): string =>
  name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll(' > ', ' (?:> )?')
