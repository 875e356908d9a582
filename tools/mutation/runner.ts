import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type MutantService, startMutants } from './service.ts'
import { openTests, type Tests } from './tests.ts'

/** The parts of Stryker's test runner that this one uses: Stryker is installed only where it runs. */
type MutantRun = { readonly testFilter?: readonly string[]; readonly activeMutant: { readonly id: string } }
type Reached = Record<string, Record<string, number>>

const TIMEOUT_MS = 20_000

/** Test files that judge a mutant, at most: those that reach the fewest other mutants. */
const JUDGES = 6

/** Files that judge lib/. The tests of commands, SQL, the emulator and the site do not. */
const FOLDERS = ['test/unit', 'test/e2e']

/**
 * A test runner for Stryker. It runs the project's tests against Workers that contain every mutant. The service and
 * Vitest start once. A first run records which tests reach which mutants; these tests judge them.
 */
function workers() {
  const sandbox = process.cwd()
  let service: MutantService
  let tests: Tests
  /** Test files in the order in which they judge. */
  let files: string[] = []
  /** Mutants that change what a Worker computes when it is loaded, prepared statements among it. */
  const loaded = new Set<string>()

  const provide = (mutant: string): void => {
    for (const [name, value] of Object.entries({ ...service.provided(), mutant })) {
      Reflect.apply(tests.vitest.provide, tests.vitest, [name, value])
    }
  }

  return {
    capabilities: () => ({ reloadEnvironment: true }),

    async init() {
      service = await startMutants(sandbox)
      tests = await openTests(sandbox, {
        config: false,
        include: FOLDERS.map((folder) => `${folder}/**/*.test.ts`),
        setupFiles: [join(sandbox, 'tools/mutation/coverage.ts')],
        testTimeout: TIMEOUT_MS,
        hookTimeout: TIMEOUT_MS,
        bail: 1,
      })
    },

    async dryRun() {
      const perTest: Reached = {}
      const known: { id: string; name: string; timeSpentMs: number; status: 'success' }[] = []
      const reachedBy = new Map<string, Set<string>>()
      for (const file of await testFiles(sandbox)) {
        provide('')
        const { tests: ran, failure } = await tests.run(file)
        if (failure) {
          console.error(`${file} fails without a mutant and judges none: ${failure.test}: ${failure.message}`)
          continue
        }
        const byFile = new Set<string>()
        for (const test of ran) {
          const { reached = [], loaded: atLoad = [] } = test.meta()
          for (const id of atLoad) loaded.add(id)
          for (const id of reached) byFile.add(id)
          const id = `${file}#${test.fullName}`
          perTest[id] = Object.fromEntries(reached.map((mutant) => [mutant, 1]))
          known.push({
            id,
            name: test.fullName,
            timeSpentMs: test.diagnostic()?.duration ?? 0,
            status: 'success',
          })
        }
        reachedBy.set(file, byFile)
      }
      files = [...reachedBy.keys()].toSorted(
        (a, b) => (reachedBy.get(a)?.size ?? 0) - (reachedBy.get(b)?.size ?? 0),
      )
      const judges = (mutant: string) =>
        files.filter((file) => reachedBy.get(file)?.has(mutant)).slice(0, JUDGES)
      const chosen = new Map<string, Set<string>>()
      for (const [id, reached] of Object.entries(perTest)) {
        const file = id.split('#')[0] ?? ''
        for (const mutant of Object.keys(reached)) {
          const its = chosen.get(mutant) ?? new Set(judges(mutant))
          chosen.set(mutant, its)
          if (!its.has(file)) delete reached[mutant]
        }
      }
      return { status: 'complete', tests: known, mutantCoverage: { static: {}, perTest } }
    },

    async mutantRun({ testFilter = [], activeMutant: { id } }: MutantRun) {
      provide(id)
      const byFile = Map.groupBy(testFilter, (test) => test.split('#')[0] ?? '')
      let nrOfTests = 0
      let isActive = false
      for (const file of files) {
        const names = byFile.get(file)?.map((test) => test.slice(file.length + 1))
        if (names === undefined) continue
        // Unit tests send the Workers nothing.
        if (!isActive && !file.startsWith('test/unit')) {
          await service.activate(id)
          if (loaded.has(id)) await service.migrate(id)
          provide(id)
          isActive = true
        }
        const { tests: ran, failure } = await tests.run(file, names)
        nrOfTests += ran.length
        if (failure === null) continue
        const killedBy = [`${file}#${failure.test ?? names[0]}`]
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

async function testFiles(sandbox: string): Promise<string[]> {
  const folders = FOLDERS.map(async (folder) => {
    const names = (await readdir(join(sandbox, folder))).filter((name) => name.endsWith('.test.ts'))
    return names.map((name) => join(folder, name))
  })
  return (await Promise.all(folders)).flat()
}

/** What Stryker looks for in a plugin. */
export const strykerPlugins = [{ kind: 'TestRunner', name: 'workers', factory: workers }]
