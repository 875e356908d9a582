import { join } from 'node:path'
import { createVitest, type InlineConfig, type TestCase, type TestModule } from 'vitest/node'

/** The first failure of a run. Its test is null when the file itself failed. */
type Failure = { readonly test: string | null; readonly message: string } | null

/** Starts one Vitest, without the projects of its configuration, for many runs of single files. */
export async function openTests(root: string, options: InlineConfig) {
  let tests: TestCase[] = []
  let modules: TestModule[] = []
  const vitest = await createVitest('test', {
    root,
    config: false,
    include: ['test/**/*.test.ts'],
    watch: false,
    bail: 1,
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
  /** Runs the tests of a file that have one of the names, or all of them. */
  async function run(file: string, names?: readonly string[]) {
    tests = []
    modules = []
    vitest.setGlobalTestNamePattern(names ? new RegExp(`^(?:${names.map(pattern).join('|')})$`) : /./)
    await vitest.runTestSpecifications([vitest.getRootProject().createSpecification(join(root, file))])
    const ran = tests.filter((test) => test.result().state !== 'skipped')
    return { tests: ran, failure: failureOf(ran, modules) }
  }
  return { vitest, run }
}

function failureOf(tests: readonly TestCase[], modules: readonly TestModule[]): Failure {
  const failed = tests.find((test) => test.result().state === 'failed')
  if (failed) return { test: failed.fullName, message: failed.result().errors?.[0]?.message ?? 'It failed' }
  if (modules.length > 0 && modules.every((module) => module.state() !== 'failed')) return null
  return { test: null, message: modules[0]?.errors()[0]?.message ?? 'The file did not run' }
}

// Vitest reports names joined by " > " and matches names joined by a space.
const pattern = (name: string): string =>
  name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll(' > ', ' (?:> )?')
