import { globSync } from 'node:fs'
import { join } from 'node:path'
import { startMutants } from './service.ts'
import { openTests } from './tests.ts'

/** The parts of Stryker's test runner that this one uses: Stryker is installed only where it runs. */
type MutantRun = { readonly testFilter?: readonly string[]; readonly activeMutant: { readonly id: string } }

const TIMEOUT_MS = 20_000

/** Test files that judge a mutant, at most: those that reach the fewest mutants. */
const JUDGES = 6

/** Files that judge lib/. The tests of commands, SQL, the emulator and the site do not. */
const FILES = ['test/unit/*.test.ts', 'test/e2e/*.test.ts']

/**
 * A test runner for Stryker. It runs the project's tests against Workers that contain every mutant. The service and
 * Vitest start once. A first run records which tests reach which mutants; these tests judge them.
 */
function workers() {
  const sandbox = process.cwd()
  let service: Awaited<ReturnType<typeof startMutants>>
  let tests: Awaited<ReturnType<typeof openTests>>
  /** Test files in the order in which they judge. */
  let files: string[] = []

  const provide = (mutant: string): void => {
    for (const [name, value] of Object.entries({ ...service.provided(), mutant })) {
      Reflect.apply(tests.vitest.provide, tests.vitest, [name, value])
    }
  }

  return {
    capabilities: () => ({ reloadEnvironment: true }),

    async init() {
      service = await startMutants(sandbox)
      const setupFiles = [join(sandbox, 'tools/mutation/coverage.ts')]
      tests = await openTests(sandbox, { setupFiles, testTimeout: TIMEOUT_MS, hookTimeout: TIMEOUT_MS })
    },

    async dryRun() {
      const perTest: Record<string, Record<string, number>> = {}
      const known: unknown[] = []
      const reachedBy = new Map<string, number>()
      provide('')
      for (const file of globSync(FILES, { cwd: sandbox })) {
        const { tests: ran, failure } = await tests.run(file)
        if (failure) {
          console.error(`${file} fails without a mutant and judges none: ${failure.test}: ${failure.message}`)
          continue
        }
        const all = new Set<string>()
        for (const test of ran) {
          const id = `${file}#${test.fullName}`
          const { reached = [] } = test.meta()
          for (const mutant of reached) all.add(mutant)
          perTest[id] = Object.fromEntries(reached.map((mutant) => [mutant, 1]))
          const timeSpentMs = test.diagnostic()?.duration ?? 0
          known.push({ id, name: test.fullName, timeSpentMs, status: 'success' })
        }
        reachedBy.set(file, all.size)
      }
      files = [...reachedBy].toSorted(([, a], [, b]) => a - b).map(([file]) => file)
      return { status: 'complete', tests: known, mutantCoverage: { static: {}, perTest } }
    },

    async mutantRun({ testFilter = [], activeMutant: { id } }: MutantRun) {
      const byFile = Map.groupBy(testFilter, (test) => test.split('#')[0] ?? '')
      let nrOfTests = 0
      let isActive = false
      for (const file of files.filter((each) => byFile.has(each)).slice(0, JUDGES)) {
        // Unit tests send the Workers nothing.
        if (!isActive && !file.startsWith('test/unit')) {
          await service.activate(id)
          isActive = true
        }
        provide(id)
        const names = byFile.get(file)?.map((test) => test.slice(file.length + 1))
        const { tests: ran, failure } = await tests.run(file, names)
        nrOfTests += ran.length
        if (failure === null) continue
        const killedBy = [`${file}#${failure.test ?? names?.[0]}`]
        return { status: 'killed', killedBy, failureMessage: failure.message, nrOfTests }
      }
      return { status: 'survived', nrOfTests }
    },

    async dispose() {
      await tests?.vitest.close()
      await service?.close()
    },
  }
}

/** What Stryker looks for in a plugin. */
export const strykerPlugins = [{ kind: 'TestRunner', name: 'workers', factory: workers }]
