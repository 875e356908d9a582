import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { openRuns, type Runs } from '../runs.ts'
import { type MutantService, startMutants } from './service.ts'
import type { Coverage, DryRun, Known, MutantRun, Outcome, TestRunner } from './stryker.ts'
import { JUDGES, STARTING, TESTS_OF, WRITE_STATEMENTS } from './tests-of.ts'

/** Milliseconds after which a test that waits for something that a mutant took away is given up. */
const PATIENCE_MS = 20_000

/**
 * A test runner for Stryker: the tests as they are, against Workers in workerd that hold every mutant and are told which
 * one is active. Its service and its vitest start once and judge all mutants.
 */
function workers(): TestRunner {
  const sandbox = process.cwd()
  let service: MutantService
  let runs: Runs

  function tellTests(mutant: string, switches: string[]): void {
    for (const [name, value] of Object.entries({ ...service.provided(), mutant, switches })) {
      Reflect.apply(runs.vitest.provide, runs.vitest, [name, value])
    }
  }

  return {
    capabilities: () => ({ reloadEnvironment: true }),

    async init() {
      service = await startMutants(sandbox)
      runs = await openRuns(sandbox, {
        config: false,
        include: ['test/**/*.test.ts'],
        setupFiles: [join(sandbox, 'tools/mutation/lib/node-side.ts')],
        testTimeout: PATIENCE_MS,
        hookTimeout: PATIENCE_MS,
        bail: 1,
      })
      runs.vitest.provide('realPostgres', Boolean(process.env.DATABASE_URL))
    },

    async dryRun(): Promise<DryRun> {
      const fileOf = await mutantsByFile(join(sandbox, 'lib'))
      const tests: Known[] = []
      const perTest: Record<string, Record<string, number>> = {}
      for (const file of new Set([...new Set(fileOf.values())].flatMap((of) => TESTS_OF[of] ?? []))) {
        tellTests('', STARTING.has(file) ? [] : service.switches())
        const { tests: ran, failure } = await runs.run(file, JUDGES)
        if (failure) return { status: 'error', errorMessage: `${file}: ${failure.test}: ${failure.message}` }
        for (const test of ran) {
          const id = `${file}#${test.fullName}`
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
      const of = basename(activeMutant.fileName)
      await service.activate(activeMutant.id)
      if (WRITE_STATEMENTS.has(of)) await service.hold(activeMutant.id)
      tellTests(activeMutant.id, [])
      let nrOfTests = 0
      const byFile = Map.groupBy(testFilter, (id) => id.split('#')[0] ?? '')
      for (const file of TESTS_OF[of] ?? []) {
        const ids = byFile.get(file)
        if (ids === undefined) continue
        const names = ids.map((id) => id.slice(file.length + 1))
        const { tests, failure } = await runs.run(file, names)
        nrOfTests += tests.length
        if (failure === null) continue
        const killedBy = [failure.test === null ? (ids[0] ?? file) : `${file}#${failure.test}`]
        return { status: 'killed', killedBy, failureMessage: failure.message, nrOfTests }
      }
      return { status: 'survived', nrOfTests }
    },

    async dispose() {
      await runs?.vitest.close()
      await service?.close()
    },
  }
}

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
