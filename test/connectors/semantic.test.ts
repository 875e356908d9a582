import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { figuresOf } from '../../connectors/definition/formulas.ts'
import { readStreams } from '../../connectors/definition/streams.ts'
import { database } from '../support/world.ts'
import { brandWithAnswers, countFigure, saveFiles } from './answers.ts'
import { loadTable } from './copies.ts'
import { runPython } from './python.ts'

const db = database()
const streams = readStreams()
const figures = figuresOf(streams)
const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Rows of each figure, and the tables of the measures of Power BI. */
type Evaluated = {
  readonly looker: readonly (readonly unknown[][])[]
  readonly cube: readonly (readonly unknown[][])[]
  readonly measures: Readonly<Record<string, string>>
  readonly issues: readonly unknown[]
}

test('the measures of Looker and Cube equal counts of the raw rows, and those of Power BI name their columns', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'semantic-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const its = await brandWithAnswers(db)
  await saveFiles(folder, its)
  const { brandId } = its
  const input = {
    tables: [
      'create schema export_api',
      ...streams.map((stream) => loadTable(stream, { schema: 'export_api', folder, brandId })),
    ],
    figures: figures.map(({ name, stream, per }) => ({ name, stream: stream.name, per })),
    columns: Object.fromEntries(
      streams.map(({ name, columns }) => [name, columns.map((column) => column.name)]),
    ),
    looker: pathOf('../../connectors/looker'),
    cube: pathOf('../../connectors/cube'),
    dax: pathOf('../../connectors/powerbi/measures.dax'),
  }
  const { looker, cube, measures, issues } = (await runPython({
    engine: 'semantic',
    file: 'semantic.py',
    input,
  })) as Evaluated
  for (const results of [looker, cube])
    for (const [index, { name, stream }] of figures.entries()) {
      const counted = await countFigure(db, { name: stream.name, brandId, monthly: false })
      const rows = results[index] ?? []
      const found = Object.fromEntries(rows.map((row) => [row.slice(0, -1).join(' '), Number(row.at(-1))]))
      expect(found, name).toEqual(counted)
    }
  expect(Object.values(measures)).toEqual(figures.map(({ stream }) => stream.name))
  expect(issues).toEqual([])
})
