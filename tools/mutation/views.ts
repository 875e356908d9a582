import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { is } from 'drizzle-orm'
import { getViewConfig, PgDialect, PgView } from 'drizzle-orm/pg-core'
import pg from 'pg'
import { openTests } from './tests.ts'

// Changes each operator, filter, function and constant of the SQL views, one at a time. The end-to-end test of the
// view's metric must fail, or those of all metrics when the view has no test of its own. Prints the survivors.

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const METRICS = ['visibility', 'citations', 'competitors', 'citation-share', 'sentiment', 'recommended-rate']

/** What is replaced, and by what. Every occurrence is one mutant. */
const CHANGES: readonly (readonly [RegExp, string | ((found: string) => string)])[] = [
  [/ = /g, ' <> '],
  [/ is not null\b/g, ' is null'],
  [/ is null\b/g, ' is not null'],
  [/ and (?!not )/g, ' and not '],
  [/ and /g, ' or '],
  [/ or /g, ' and '],
  [/\bnot (?!null)/g, ''],
  [/ >= /g, ' > '],
  [/ \* /g, ' / '],
  [/ \+ /g, ' - '],
  [/\bleft join\b/g, 'join'],
  [/\bdistinct /g, ''],
  [/ filter \(where [^()]+\)/g, ''],
  [/\bbool_or\(/g, 'bool_and('],
  [/\bmax\(/g, 'min('],
  [/\bsum\(/g, 'avg('],
  [/'UTC'/g, "'Etc/GMT+1'"],
  [/\b\d+\b/g, (found) => String(Number(found) + 1)],
]

function mutantsOf(query: string): { query: string; change: string }[] {
  return CHANGES.flatMap(([pattern, becomes]) =>
    [...query.matchAll(pattern)].map(({ 0: found, index }) => {
      const text = typeof becomes === 'string' ? becomes : becomes(found)
      const mutant = query.slice(0, index) + text + query.slice(index + found.length)
      const around = mutant.slice(Math.max(0, index - 40), index + 40)
      return { query: mutant, change: `…${around}… (was "${found}")` }
    }),
  )
}

const wanted = process.argv.slice(2)
const files = readdirSync(new URL('../../drizzle/metrics', import.meta.url))
const modules = await Promise.all(files.map((file) => import(`../../drizzle/metrics/${file}`)))
const views = modules
  .flatMap((module) => Object.values(module).filter((each) => is(each, PgView)))
  .map((view) => {
    const { schema, name, query } = getViewConfig(view)
    if (query === undefined) throw new Error(`${name} has no query`)
    const sql = new PgDialect().sqlToQuery(query).sql.replace(/\s+/g, ' ')
    const own = `test/e2e/${name.replaceAll('_', '-')}.test.ts`
    const tests = existsSync(`${ROOT}/${own}`) ? [own] : METRICS.map((metric) => `test/e2e/${metric}.test.ts`)
    return { name, sql, tests, replace: (by: string) => `create or replace view ${schema}.${name} as ${by}` }
  })
  .filter(({ name }) => wanted.length === 0 || wanted.includes(name))

const { vitest, run } = await openTests(ROOT, { globalSetup: ['test/support/service.ts'] })
for (const file of new Set(views.flatMap(({ tests }) => tests))) {
  const { failure } = await run(file)
  if (failure) throw new Error(`${file} fails without a mutant: ${failure.test}: ${failure.message}`)
}
const client = new pg.Client(vitest.getRootProject().getProvidedContext().databaseUrl)
await client.connect()
for (const { name, sql, tests, replace } of views) {
  const mutants = mutantsOf(sql)
  let survivors = 0
  for (const { query, change } of mutants) {
    let isNoticed = false
    await client.query(replace(query)).catch(() => {
      isNoticed = true
    })
    for (const file of tests) isNoticed ||= (await run(file)).failure !== null
    await client.query(replace(sql))
    if (isNoticed) continue
    survivors += 1
    console.log(`${name}: ${change}`)
  }
  console.log(`${name}: ${mutants.length - survivors} of ${mutants.length} noticed`)
}
await client.end()
await vitest.close()
