import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { createVitest, type TestCase, type Vitest } from 'vitest/node'
import { VIEWS } from './all.ts'
import { changed } from './changed.ts'
import type { Mutant, MutatedView } from './mutant.ts'
import { replaceView } from './replace.ts'
import { definition } from './sql.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** What became of a view's mutants. */
export type Tally = {
  readonly view: string
  readonly mutants: number
  readonly killed: number
  readonly same: number
  /** Mutants that need what the server does not have. */
  readonly untried: number
  readonly survivors: readonly string[]
}

/**
 * Puts each mutant in its view's place, in the database of a service that runs, and runs the test that must fail over it.
 * First each of those tests must pass. One service and one vitest judge all mutants.
 */
export async function runViews(hear: (tally: Tally) => void): Promise<void> {
  const vitest = await createVitest('test', {
    root: ROOT,
    watch: false,
    pool: 'threads',
    maxWorkers: 1,
    reporters: [{}],
  })
  try {
    await vitest.init()
    for (const mutated of VIEWS) await demandPassing(vitest, mutated)
    const db = new pg.Client(vitest.getRootProject().getProvidedContext().databaseUrl)
    await db.connect()
    try {
      for (const mutated of VIEWS) hear(await judge(vitest, db, mutated))
    } finally {
      await db.end()
    }
  } finally {
    await vitest.close()
  }
}

const isMutant = (each: MutatedView['mutants'][number]): each is Mutant => 'fails' in each

async function judge(vitest: Vitest, db: pg.Client, { view, file, mutants }: MutatedView): Promise<Tally> {
  const { name, query } = definition(view)
  const has = await collations(db)
  const tried = mutants.filter(isMutant).filter(({ needs }) => needs === undefined || has.has(needs))
  const survivors: string[] = []
  for (const mutant of tried) {
    await replaceView(db, name, changed(query, mutant))
    const failed = (await run(vitest, mutant.file ?? file, [mutant.fails])).some(hasFailed)
    await replaceView(db, name, query)
    if (!failed)
      survivors.push(`${mutant.sql}  →  ${mutant.becomes || '(nothing)'}  passes "${mutant.fails}"`)
  }
  return {
    view: name,
    mutants: mutants.length,
    killed: tried.length - survivors.length,
    same: mutants.filter((each) => !isMutant(each)).length,
    untried: mutants.filter(isMutant).length - tried.length,
    survivors,
  }
}

/** Throws when a test that mutants are judged by fails without one, or is not there. */
async function demandPassing(vitest: Vitest, { file, mutants }: MutatedView): Promise<void> {
  const wanted = Map.groupBy(mutants.filter(isMutant), (mutant) => mutant.file ?? file)
  for (const [its, all] of wanted) {
    const names = [...new Set(all.map(({ fails }) => fails))]
    const ran = await run(vitest, its, names)
    const bad = ran.find(hasFailed)
    if (bad) throw new Error(`"${bad.fullName}" fails without a mutant: ${bad.result().errors?.[0]?.message}`)
    const missing = names.filter((name) => !ran.some(({ fullName }) => fullName === name))
    if (missing.length > 0) throw new Error(`test/${its}.test.ts has no test "${missing.join('", "')}"`)
  }
}

async function run(vitest: Vitest, file: string, names: readonly string[]): Promise<TestCase[]> {
  vitest.setGlobalTestNamePattern(new RegExp(`^(?:${names.map(asSought).join('|')})$`))
  const specification = vitest.getRootProject().createSpecification(`${ROOT}test/${file}.test.ts`)
  const { testModules } = await vitest.runTestSpecifications([specification])
  return testModules
    .flatMap(({ children }) => [...children.allTests()])
    .filter((test) => test.result().state !== 'skipped')
}

const hasFailed = (test: TestCase): boolean => test.result().state === 'failed'

// Vitest joins the names of suites and test by " > " where it tells them, and by a space where it looks for them.
const asSought = (name: string): string =>
  name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll(' > ', ' (?:> )?')

async function collations(db: pg.Client): Promise<ReadonlySet<string>> {
  const { rowCount } = await db.query(`select from pg_collation where collname = 'und-x-icu'`)
  return new Set(rowCount ? ['ICU'] : [])
}
