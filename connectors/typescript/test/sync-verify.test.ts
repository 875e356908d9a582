import { createHash } from 'node:crypto'
import { cp, mkdtemp, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answer, brand, database, prompt, refresh } from '../../../test/fixtures/rows.ts'
import { type Scene, scene } from '../../../test/fixtures/scene.ts'
import { duckdb, exportApi, monthFile, readManifest } from './parquet-copy.ts'

const db = database()
const folder = await mkdtemp(join(tmpdir(), 'sync-verify-'))
const original = join(folder, 'original')
let its: Scene
let other: string

beforeAll(async () => {
  its = await scene(db)
  const competitor = await its.rival('Rival')
  other = await brand(db, its.org, { name: 'Other' })
  const otherPrompt = await prompt(db, other)
  for (const at of ['2026-09-30T12:00:00Z', '2026-10-01T12:00:00Z', '2026-10-02T12:00:00Z']) {
    await its.say(at, {
      mentions: ['Acme'],
      phrases: [{ polarity: 'positive', confidence: '0.1001' }],
      judged: [{ competitor, recommended: true }],
    })
    await answer(db, { ...its, prompt: otherPrompt, at, mentions: ['Other'] })
  }
  await refresh(db)
  expect(await exportApi(its, 'sync', '--out', original)).toMatchObject({ code: 0 })
})

afterAll(() => rm(folder, { recursive: true }))

const pathOf = (copy: string, endpoint: string, month = '2026-10', brandId = its.brandId): string =>
  relative(copy, monthFile(copy, brandId, `${endpoint}/${month}`))

/** Runs verify. Returns what it says about files and about days, both in order. */
async function differences(copy: string) {
  const { code, log } = await exportApi(its, 'verify', copy, '--full')
  const found = log.filter(({ event }) => event === 'differs')
  expect(code).toBe(found.length === 0 ? 0 : 1)
  const lines = found.map(({ path, date, message = '' }) => ({
    path: String(path),
    isDay: date !== undefined,
    message,
  }))
  return {
    paths: lines.map(({ path }) => path),
    files: lines.flatMap(({ isDay, message }) => (isDay ? [] : message)).sort(),
    days: lines.flatMap(({ isDay, path, message }) => (isDay ? message.replace(`${path}: `, '') : [])).sort(),
  }
}

const NONE = { paths: [], files: [], days: [] }

test('verify finds damaged files and their days, and sync replaces those that are deleted', async () => {
  const copy = join(folder, 'damaged')
  await cp(original, copy, { recursive: true })
  const byte = pathOf(copy, 'competitors')
  const bytes = await readFile(join(copy, byte))
  // In the statistics: the rows stay as they are.
  bytes.write('r', bytes.lastIndexOf('Rival'))
  await writeFile(join(copy, byte), bytes)
  const missing = pathOf(copy, 'sentiment')
  await rm(join(copy, missing))
  const otherMonth = pathOf(copy, 'recommended-rate')
  await cp(join(copy, pathOf(copy, 'recommended-rate', '2026-09')), join(copy, otherMonth))
  const otherBrand = pathOf(copy, 'visibility')
  await cp(join(copy, pathOf(copy, 'visibility', '2026-10', other)), join(copy, otherBrand))
  const cut = pathOf(copy, 'visibility', '2026-10', other)
  await truncate(join(copy, cut), 100)
  const extra = 'endpoint=visibility/extra.parquet'
  await cp(join(original, pathOf(original, 'visibility')), join(copy, extra))

  const found = await differences(copy)
  expect(found.files).toEqual(
    [
      `${byte}: The file is not the one that sync wrote.`,
      `${missing}: The file is missing.`,
      `${otherMonth}: The file has rows of another brand or month.`,
      `${otherBrand}: The file has rows of another brand or month.`,
      `${cut}: The file cannot be read. parquet file invalid (footer != PAR1).`,
      `${extra}: Sync did not write this file.`,
    ].sort(),
  )
  const lost = (date: string) =>
    ['recommended-rate', 'sentiment', 'visibility', 'visibility'].map(
      (endpoint) => `${endpoint} ${date}: rows 0 instead of 1`,
    )
  expect(found.days.map((message) => message.replace(/,.*/, ''))).toEqual(
    [...lost('2026-10-01'), ...lost('2026-10-02')].sort(),
  )
  for (const path of found.paths) await rm(join(copy, path), { force: true })
  expect(await exportApi(its, 'sync', '--out', copy)).toMatchObject({ code: 0 })
  expect(await differences(copy)).toEqual(NONE)
})

test.for([
  ['sums', 'visible_count + (day(date) - 1)::bigint as visible_count', /^visible_count 2 instead of 1\.$/],
  ['digest', "if(day(date) = 1, market, market || '!') as market", /^digest \w{15} instead of \w{15}\.$/],
] as const)('verify compares the %s of each day, even if the state was changed as well', async ([
  name,
  replaced,
  expected,
]) => {
  const copy = join(folder, name)
  await cp(original, copy, { recursive: true })
  const file = join(copy, pathOf(copy, 'visibility'))
  const rows = `select * replace (${replaced}) from '${file}'`
  await duckdb(`copy (select * exclude (endpoint, brand) from (${rows})) to '${file}.new' (format parquet)`)
  await rename(`${file}.new`, file)
  const state = join(copy, readManifest(copy).states[its.brandId] ?? '')
  const { files, ...rest } = JSON.parse(await readFile(state, 'utf8'))
  files['visibility/2026-10'].sha256 = createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
  await writeFile(state, JSON.stringify({ ...rest, files }))
  const found = await differences(copy)
  expect(found.files).toEqual([])
  expect(found.days.map((message) => message.replace('visibility 2026-10-02: ', ''))).toEqual([
    expect.stringMatching(expected),
  ])
})

test('verify names the days that changed after the sync', async () => {
  const copy = join(folder, 'changed')
  await cp(original, copy, { recursive: true })
  await its.say('2026-10-02T13:00:00Z', { mentions: ['Acme'] })
  await refresh(db)
  expect(await differences(copy)).toMatchObject({
    files: [],
    days: expect.arrayContaining([
      'competitors 2026-10-02: total_responses 1 instead of 2. It changed after the sync.',
      'visibility 2026-10-02: total_prompts 1 instead of 2, visible_count 1 instead of 2. It changed after the sync.',
    ]),
  })
})

test('verify needs a copy', async () => {
  const { code, stderr } = await exportApi(its, 'verify', folder)
  expect({ code, stderr }).toEqual({ code: 2, stderr: `${folder} has no copy. Run sync first.\n` })
})
