import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createVitest, type TestCase, type Vitest } from 'vitest/node'
import { type MutantService, startMutants } from './service.ts'
import type { Coverage, DryRun, Known, MutantRun, Outcome, TestRunner } from './stryker.ts'
import { STARTING, TESTS_OF } from './tests-of.ts'

const NODE_SIDE = fileURLToPath(new URL('./node-side.ts', import.meta.url))

/** Milliseconds after which a test that waits for something that a mutant took away is given up. */
const PATIENCE_MS = 20_000

/**
 * A test runner for Stryker: the tests as they are, against Workers in workerd that hold every mutant and are told which
 * one is active. Its service and its vitest start once and judge all mutants.
 */
function workers(): TestRunner {
  const sandbox = process.cwd()
  let service: MutantService
  let vitest: Vitest

  /** Runs tests of a file, all or those of the given names, and gives those that ran. */
  async function run(file: string, names: readonly string[] | null): Promise<TestCase[]> {
    const path = join(sandbox, 'test', `${file}.test.ts`)
    if (names === null) vitest.resetGlobalTestNamePattern()
    else vitest.setGlobalTestNamePattern(new RegExp(`^(${names.map(escaped).join('|')})$`))
    const { testModules } = await vitest.runTestSpecifications([
      vitest.getRootProject().createSpecification(path),
    ])
    const cases = testModules.flatMap(({ children }) => [...children.allTests()])
    const ran = cases.filter((test) => test.result().state !== 'skipped')
    const broken = testModules.flatMap((module) => module.errors())[0]
    if (broken && !ran.some(failed)) throw new Error(`${file} could not run: ${broken.message}`)
    return ran
  }

  function tellTests(mutant: string, switches: string[]): void {
    for (const [name, value] of Object.entries({ ...service.provided(), mutant, switches })) {
      Reflect.apply(vitest.provide, vitest, [name, value])
    }
  }

  return {
    capabilities: () => ({ reloadEnvironment: true }),

    async init() {
      service = await startMutants(sandbox)
      vitest = await createVitest('test', {
        root: sandbox,
        config: false,
        watch: false,
        include: ['test/**/*.test.ts'],
        setupFiles: [NODE_SIDE],
        testTimeout: PATIENCE_MS,
        hookTimeout: PATIENCE_MS,
        pool: 'threads',
        maxWorkers: 1,
        bail: 1,
        reporters: [{}],
      })
      vitest.provide('realPostgres', Boolean(process.env.DATABASE_URL))
      await vitest.init()
    },

    async dryRun(): Promise<DryRun> {
      const fileOf = await mutantsByFile(join(sandbox, 'lib'))
      const tests: Known[] = []
      const perTest: Record<string, Record<string, number>> = {}
      for (const file of new Set([...new Set(fileOf.values())].flatMap((of) => TESTS_OF[of] ?? []))) {
        tellTests('', STARTING.has(file) ? [] : service.switches())
        for (const test of await run(file, null)) {
          if (failed(test))
            return { status: 'error', errorMessage: `${idOf(file, test)}: ${messageOf(test)}` }
          const id = idOf(file, test)
          const judged = [...fileOf]
            .filter(([, of]) => TESTS_OF[of]?.includes(file))
            .map(([mutant]) => mutant)
          const reached = new Set(test.meta().reached)
          const its = STARTING.has(file) ? judged : judged.filter((mutant) => reached.has(mutant))
          perTest[id] = Object.fromEntries(its.map((mutant) => [mutant, 1]))
          const timeSpentMs = test.diagnostic()?.duration ?? 0
          tests.push({ id, name: test.fullName, timeSpentMs, status: 'success' })
        }
      }
      return {
        status: 'complete',
        tests,
        mutantCoverage: { static: {}, perTest: perTest satisfies Coverage },
      }
    },

    async mutantRun({ testFilter = [], activeMutant }: MutantRun): Promise<Outcome> {
      await service.activate(activeMutant.id)
      tellTests(activeMutant.id, [])
      let nrOfTests = 0
      for (const [file, names] of Map.groupBy(testFilter, (id) => id.split('#')[0] ?? '')) {
        const ran = await run(
          file,
          names.map((id) => id.slice(file.length + 1)),
        )
        nrOfTests += ran.length
        const failure = ran.find(failed)
        if (failure === undefined) continue
        return {
          status: 'killed',
          killedBy: [idOf(file, failure)],
          failureMessage: messageOf(failure),
          nrOfTests,
        }
      }
      return { status: 'survived', nrOfTests }
    },

    async dispose() {
      await vitest?.close()
      await service?.close()
    },
  }
}

const idOf = (file: string, test: TestCase): string => `${file}#${test.fullName}`

const failed = (test: TestCase): boolean => test.result().state === 'failed'

const messageOf = (test: TestCase): string => test.result().errors?.[0]?.message ?? 'It failed'

// Vitest joins the names of suites and test by " > " where it tells them, and by a space where it looks for them.
const escaped = (name: string): string =>
  name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll(' > ', ' (?:> )?')

/** The file of each mutant, as Stryker wrote them into the sources. */
async function mutantsByFile(lib: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const file of await readdir(lib)) {
    const source = await readFile(join(lib, file), 'utf8')
    for (const [, id = ''] of source.matchAll(/stryMutAct_9fa48\("(\d+)"\)/g)) found.set(id, file)
  }
  return found
}

/** What Stryker looks for in a plugin. */
export const strykerPlugins = [{ kind: 'TestRunner', name: 'workers', factory: workers }]
