import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { openRuns, type Runs } from '../runs.ts'
import { VIEWS } from './all.ts'
import { changed } from './changed.ts'
import type { Ability, Mutant, MutatedView } from './mutant.ts'
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
  const runs = await openRuns(ROOT, {})
  const { vitest } = runs
  try {
    for (const mutated of VIEWS) await demandPassing(runs, mutated)
    const { databaseUrl, realPostgres } = vitest.getRootProject().getProvidedContext()
    const db = new pg.Client(databaseUrl)
    await db.connect()
    try {
      const abilities = await abilitiesOf(db, realPostgres)
      for (const mutated of VIEWS) hear(await judge(runs, db, abilities, mutated))
    } finally {
      await db.end()
    }
  } finally {
    await vitest.close()
  }
}

const isMutant = (each: MutatedView['mutants'][number]): each is Mutant => 'fails' in each

async function judge(
  { run }: Runs,
  db: pg.Client,
  abilities: ReadonlySet<Ability>,
  { view, file, mutants }: MutatedView,
): Promise<Tally> {
  const { name, query } = definition(view)
  const tried = mutants.filter(isMutant).filter(({ needs }) => needs === undefined || abilities.has(needs))
  const survivors: string[] = []
  for (const mutant of tried) {
    await replaceView(db, name, changed(query, mutant))
    const { failure } = await run(mutant.file ?? file, [mutant.fails])
    await replaceView(db, name, query)
    if (failure === null)
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
async function demandPassing({ run }: Runs, { file, mutants }: MutatedView): Promise<void> {
  const wanted = Map.groupBy(mutants.filter(isMutant), (mutant) => mutant.file ?? file)
  for (const [its, all] of wanted) {
    const names = [...new Set(all.map(({ fails }) => fails))]
    const { tests, failure } = await run(its, names)
    if (failure) throw new Error(`"${failure.test ?? its}" fails without a mutant: ${failure.message}`)
    const missing = names.filter((name) => !tests.some(({ fullName }) => fullName === name))
    if (missing.length > 0) throw new Error(`test/${its}.test.ts has no test "${missing.join('", "')}"`)
  }
}

async function abilitiesOf(db: pg.Client, realPostgres: boolean): Promise<ReadonlySet<Ability>> {
  const { rowCount } = await db.query(`select from pg_collation where collname = 'und-x-icu'`)
  const abilities = new Set<Ability>()
  if (rowCount) abilities.add('ICU')
  if (realPostgres) abilities.add('encodings')
  return abilities
}
