import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Row } from '../../../../test/fixtures/call.ts'
import { readCodeBlocks } from '../../../../test/fixtures/code-blocks.ts'
import { addHostileTexts } from '../../../../test/fixtures/hostile-texts.ts'
import { hasAll } from '../../../../test/fixtures/programs.ts'
import { database, refresh } from '../../../../test/fixtures/rows.ts'
import { answeredDays } from '../../../../test/fixtures/scene.ts'
import { sorted } from '../../../../test/sync/compare-copy.ts'
import { runPython } from '../../../test-support/python.ts'
import { openCopy } from '../../cli/copy.ts'
import { commit } from '../../cli/delta/table.ts'
import { folderStore } from '../../cli/folder-store.ts'
import { objectStore } from '../../cli/object-store.ts'
import { BRANDS, METRICS } from '../../cli/streams.ts'
import { duckdb, expectExact, exportApi, viewRows } from '../copy-command.ts'
import { startS3 } from '../s3-server.ts'

// What engines read of copies with a history.

const db = database()
const FIRST = '2026-09-20'
/** Its table gets versions up to a checkpoint. */
const FILLED = 'visibility'

let folder: string
let s3: Awaited<ReturnType<typeof startS3>> | undefined

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'delta-engines-'))
  if (hasAll('versitygw')) s3 = await startS3()
})
afterAll(async () => {
  await s3?.close()
  await rm(folder, { recursive: true })
})

/** The rows of each table, by the engine that read them. */
type Printed = Readonly<Record<string, Readonly<Record<string, readonly Row[]>>>>

test.concurrent.for(['folder', 'bucket'])(
  'engines read a copy in a %s',
  { timeout: 300_000 },
  async (place, { skip }) => {
    const bucket = place === 'bucket' ? s3 : undefined
    if (place === 'bucket' && bucket === undefined) skip()
    const its = await answeredDays(db, { first: FIRST, days: 60 })
    const access = { key: its.key, ...(bucket && { env: bucket.env }) }
    const copy = bucket ? `${bucket.location}/copy` : join(folder, 'copy')
    const store = bucket ? objectStore(copy, bucket.env) : folderStore(copy)
    const sync = () => exportApi(access, 'sync', '--out', copy)
    expect(await sync()).toMatchObject({ code: 0 })
    const removeMonth = `delete from answers where prompt_id = $1 and answered_at >= '2026-10-01' and answered_at < '2026-11-01'`
    const citations = [{ url: 'https://late.example/' }]
    for (const restate of [
      () => its.say('2026-10-03T00:00:00Z', { mentions: ['Acme'], citations }),
      () => db.query('update competitors set name = $2 where brand_id = $1', [its.brandId, 'Renamed']),
      () => db.query(removeMonth, [its.prompt]),
    ]) {
      await restate()
      await refresh(db)
      expect(await sync()).toMatchObject({ code: 0 })
    }
    await addHostileTexts(db, its.brandId, '2026-10-05')
    expect(await Promise.all([sync(), sync()])).toMatchObject([{ code: 0 }, { code: 0 }])
    const table = (await openCopy(store)).metrics.get(FILLED) ?? expect.fail()
    while (table.snapshot.version < 99) await commit(table, 'WRITE', { actions: [], expiry: 0 })
    for (const name of ['Acme', 'Rival']) {
      await its.say(`${FIRST}T00:00:00Z`, { mentions: [name] })
      await refresh(db)
      expect(await sync()).toMatchObject({ code: 0 })
    }
    expect(await store.read(`${table.name}/_delta_log/_last_checkpoint`)).toBeDefined()
    await expectExact(expect, { db, copy, brandId: its.brandId, store, setup: bucket?.setup })

    const { brands = {}, ...metrics } = (await runPython({
      engine: 'delta',
      file: new URL('./read-delta.py', import.meta.url),
      input: {
        tables: Object.fromEntries([BRANDS, ...METRICS].map(({ name }) => [name, `${copy}/${name}`])),
        setup: bucket?.setup ?? '',
        options: bucket ? { ...bucket.env, AWS_ALLOW_HTTP: 'true', AWS_REGION: 'us-east-1' } : {},
      },
    })) as Printed
    for (const rows of Object.values(brands)) expect(rows).toMatchObject([{ id: its.brandId }])
    for (const stream of METRICS) {
      const views = await viewRows(db, stream, its.brandId)
      for (const [engine, rows] of Object.entries(metrics[stream.name] ?? expect.fail()))
        expect([engine, sorted(rows)]).toEqual([engine, views])
    }
  },
)

test('the recipe for tools that read DuckDB copies every row', async () => {
  const its = await answeredDays(db, { first: FIRST, days: 3 })
  const place = await mkdtemp(join(folder, 'tools-'))
  expect(await exportApi(its, 'sync', '--out', join(place, 'copy'))).toMatchObject({ code: 0 })
  const [recipe = ''] = (await readCodeBlocks('../connectors/recipes/README.md'))(
    'Superset, Metabase, Evidence, Rill',
    'python',
  )
  expect(recipe).toContain('"install delta; load delta"')
  const file = pathToFileURL(join(place, 'recipe.py'))
  // DuckDB's server is not asked for the extension: its package has it.
  const load =
    'import duckdb_extension_delta as package; [extension] = Path(package.__path__[0]).rglob("*.duckdb_extension")'
  const code = recipe.replace('"install delta; load delta"', `f"load '{extension}'"`)
  await writeFile(file, `${code.replace('\nPath', `\n${load}\nPath`)}print("true")`)
  for (let run = 1; run <= 2; run++)
    await runPython({ engine: 'delta', file, input: null, options: { cwd: place } })
  for (const stream of METRICS) {
    const rows = await duckdb(`from ${stream.name}`, { file: join(place, 'export.duckdb') })
    expect(sorted(rows)).toEqual(await viewRows(db, stream, its.brandId))
  }
})
