import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { is } from 'drizzle-orm'
import { PgView } from 'drizzle-orm/pg-core'
import { describe, expect, test } from 'vitest'
import { VIEWS } from './views/all.ts'
import { changed, untouched } from './views/changed.ts'
import { definition } from './views/sql.ts'

const FOLDER = fileURLToPath(new URL('../../drizzle/views', import.meta.url))

test('every view has mutants', async () => {
  const files = (await readdir(FOLDER)).map((file) => import(`${FOLDER}/${file}`))
  const views = (await Promise.all(files)).flatMap((module) =>
    Object.values(module).filter((each) => is(each, PgView)),
  )
  const names = views.map((view) => definition(view).name)
  expect(VIEWS.map(({ view }) => definition(view).name).toSorted()).toEqual(names.toSorted())
})

describe.for(VIEWS.map((mutated) => ({ ...definition(mutated.view), mutated })))('$name', ({
  query,
  mutated,
}) => {
  test('has each of its conditions, functions, operators and constants changed by a mutant', () => {
    expect(untouched(mutated)).toEqual([])
  })

  test('has mutants that differ from it and from each other', () => {
    const queries = mutated.mutants.map((mutant) => changed(query, mutant))
    expect(new Set([query, ...queries]).size).toBe(queries.length + 1)
  })
})

test('a condition that is new is noticed', () => {
  const [first] = VIEWS
  if (first === undefined) throw new Error('There are no views')
  for (const mutant of first.mutants) {
    const rest = first.mutants.filter((each) => each.sql !== mutant.sql)
    if (mutant.sql.startsWith('join')) expect(untouched({ ...first, mutants: rest })).not.toEqual([])
  }
})
