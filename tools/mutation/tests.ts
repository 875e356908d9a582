import { join } from 'node:path'
import { createVitest, type TestCase, type TestModule, type Vitest } from 'vitest/node'

export type TestRun = {
  readonly tests: readonly TestCase[]
  /** The first failure. Its test is null when the file itself failed. */
  readonly failure: { readonly test: string | null; readonly message: string } | null
}

/** One Vitest for many runs of single files. */
export type Tests = {
  readonly vitest: Vitest
  /** Runs the tests of a file that have one of the names, or all of them. */
  readonly run: (file: string, names?: readonly string[]) => Promise<TestRun>
}

export async function openTests(
  root: string,
  options: NonNullable<Parameters<typeof createVitest>[1]>,
): Promise<Tests> {
  let tests: TestCase[] = []
  let modules: TestModule[] = []
  const vitest = await createVitest('test', {
    root,
    watch: false,
    pool: 'threads',
    maxWorkers: 1,
    // The result of a run also lists the tests of earlier runs.
    reporters: [
      {
        onTestCaseResult: (test) => void tests.push(test),
        onTestModuleEnd: (module) => void modules.push(module),
      },
    ],
    ...options,
  })
  return {
    vitest,
    run: async (file, names) => {
      tests = []
      modules = []
      vitest.setGlobalTestNamePattern(names ? new RegExp(`^(?:${names.map(pattern).join('|')})$`) : /./)
      await vitest.runTestSpecifications([vitest.getRootProject().createSpecification(join(root, file))])
      const ran = tests.filter((test) => test.result().state !== 'skipped')
      return { tests: ran, failure: failureOf(ran, modules) }
    },
  }
}

function failureOf(tests: readonly TestCase[], modules: readonly TestModule[]): TestRun['failure'] {
  const failed = tests.find((test) => test.result().state === 'failed')
  if (failed) return { test: failed.fullName, message: failed.result().errors?.[0]?.message ?? 'It failed' }
  if (modules.length > 0 && modules.every((module) => module.state() !== 'failed')) return null
  return { test: null, message: modules[0]?.errors()[0]?.message ?? 'The file did not run' }
}

// Vitest reports names joined by " > " and matches names joined by a space.
const pattern = (name: string): string =>
  name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll(' > ', ' (?:> )?')
