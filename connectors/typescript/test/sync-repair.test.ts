import { cp, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { answer, brand, database, prompt, refresh } from '../../../test/fixtures/rows.ts'
import { answeredDays, type Scene } from '../../../test/fixtures/scene.ts'
import { startFaultProxy } from '../../certify/fault-proxy.ts'
import { createApi } from '../cli/api.ts'
import { brandsOf, openCopy, tablesOf } from '../cli/copy.ts'
import { type Coverage, coverageOf } from '../cli/coverage.ts'
import { type Action, type AddFile, formatEntry, parseEntry } from '../cli/delta/log.ts'
import { StoreError } from '../cli/errors.ts'
import { statisticsOf } from '../cli/files.ts'
import { folderStore } from '../cli/folder-store.ts'
import { sha256 } from '../cli/hash.ts'
import { sync } from '../cli/sync.ts'
import { repair, verify } from '../cli/verify.ts'
import { duckdb } from './copy-command.ts'
import { silent } from './random-service.ts'

// What happens to a copy behind the command's back: verify --full finds it, verify --repair undoes it. command.test.ts has
// what happens to whole files.

const db = database()
const folder = await mkdtemp(join(tmpdir(), 'sync-repair-'))
const original = join(folder, 'original')
let its: Scene
let other: string

/** Gives each request a rate limit of its own. */
const service = await startFaultProxy(inject('serviceUrl'), () => null)
afterAll(service.close)

const jobOf = (copy: string, store = folderStore(copy)) => ({
  api: createApi({ url: service.url, key: its.key }, silent),
  store,
  fromDate: undefined,
  progress: silent,
})

const differences = (copy: string) => verify({ ...jobOf(copy), full: true })
const repairFully = (copy: string) => repair({ ...jobOf(copy), full: true })

beforeAll(async () => {
  its = await answeredDays(db, { first: '2026-09-29', days: 5 })
  other = await brand(db, its.org, { name: 'Other' })
  const ofOther = await prompt(db, other)
  await answer(db, { ...its, prompt: ofOther, at: '2026-10-01T00:00:00Z', mentions: ['Other'] })
  await refresh(db)
  await sync(jobOf(original), undefined)
  await its.say('2026-10-02T00:00:00Z', {
    mentions: ['Acme'],
    citations: [{ url: 'https://a.example/', domain: 'a.example', owned: true }],
  })
  await refresh(db)
  // The files of October are written again.
  await sync(jobOf(original), undefined)
  expect(await differences(original)).toEqual([])
})

afterAll(() => rm(folder, { recursive: true }))

/** Copies the original copy. Returns the path. */
async function copyTo(name: string): Promise<string> {
  const copy = join(folder, name.replaceAll(' ', '-'))
  await cp(original, copy, { recursive: true, preserveTimestamps: true })
  return copy
}

const isOf = (month: string, file: AddFile): boolean => statisticsOf(file).first.startsWith(month)

/** Returns the path of the file of a month, or of the brands. */
async function pathOf(copy: string, table: string, month = table === 'brands' ? '' : '2026-10') {
  const found = tablesOf(await openCopy(folderStore(copy))).find(({ name }) => name === table)
  const file = [...(found?.snapshot.files.values() ?? [])].find((file) => isOf(month, file))
  return join(copy, table, file?.path ?? '')
}

type Tamper = (copy: string) => Promise<unknown>

/** Replaces each action of the log of a table. */
const log =
  (table: string, edit: (action: Action) => readonly Action[]): Tamper =>
  async (copy) => {
    const entries = join(copy, table, '_delta_log')
    for (const name of await readdir(entries)) {
      const actions = parseEntry(await readFile(join(entries, name), 'utf8'))
      await writeFile(join(entries, name), formatEntry(actions.flatMap(edit)))
    }
  }

const addsOf = (table: string, edit: (add: AddFile) => readonly AddFile[]): Tamper =>
  log(table, (action) => (action.add ? edit(action.add).map((add) => ({ add })) : [action]))

/** Replaces what the log says about the file of a month. */
const added = (edit: (add: AddFile) => readonly AddFile[]): Tamper =>
  addsOf('visibility', (add) => (isOf('2026-10', add) ? edit(add) : [add]))

const tags = (edit: (tags: Readonly<Record<string, string>>) => AddFile['tags']): Tamper =>
  added((add) => [{ ...add, tags: edit(add.tags ?? {}) }])

const coverage = (edit: (coverage: Coverage) => Partial<Coverage>): Tamper =>
  addsOf('brands', ({ tags, ...add }) => {
    const before = JSON.parse(String(tags?.coverage))
    return [{ ...add, tags: { ...tags, coverage: JSON.stringify({ ...before, ...edit(before) }) } }]
  })

/** Stores the size of a file in its log, and a hash. */
async function describe(copy: string, table: string, path: string, hash?: string): Promise<void> {
  const { size } = await stat(path)
  const known = { sha256: hash ?? sha256(await readFile(path)) }
  await addsOf(table, (add) => [
    path.endsWith(add.path) ? { ...add, size, tags: { ...add.tags, ...known } } : add,
  ])(copy)
}

/** Writes the rows of a query in the place of a file, whose rows are the table `rows`, and describes it as sync would. */
const rows =
  (table: string, query: string): Tamper =>
  async (copy) => {
    const path = await pathOf(copy, table)
    await duckdb(`create table rows as from '${path}'; copy (${query}) to '${path}.new' (format parquet)`)
    await rename(`${path}.new`, path)
    await describe(copy, table, path)
  }

const replaced = (table: string, values: string): Tamper =>
  rows(table, `select * replace (${values}) from rows`)

const TAMPERINGS: Readonly<Record<string, Tamper>> = {
  'a count is another': replaced('visibility', 'visible_count + 1 as visible_count'),
  'rows are of an unknown brand': replaced('visibility', 'uuid()::text as brand_id'),
  'a column is dropped': rows('visibility', 'select * exclude (market) from rows'),
  'a count is a floating-point number': replaced('visibility', 'visible_count::double as visible_count'),
  'a brand is renamed': replaced('brands', "name || '!' as name"),
  'the log lacks a file': added(() => []),
  'the log has a file under another name, too': async (copy) => {
    const path = await pathOf(copy, 'visibility')
    await cp(path, join(dirname(path), 'again.parquet'), { preserveTimestamps: true })
    await added((add) => [add, { ...add, path: 'again.parquet' }])(copy)
  },
  'the log lacks the removal of a file': log('visibility', ({ remove, ...action }) => [action]),
  'the log has another hash': tags((it) => ({ ...it, sha256: '0'.repeat(64) })),
  'the log has another digest': tags(({ days = '', ...it }) => ({
    ...it,
    days: days.replace(/ \w{15}/, ` ${'0'.repeat(15)}`),
  })),
  'the statistics are others': added(({ stats = '', ...add }) => [
    { ...add, stats: stats.replace('2026-10-03', '2026-10-01') },
  ]),
  'the schema lacks a column': log('visibility', ({ metaData, ...action }) => {
    const schemaString = metaData?.schemaString.replace(/\{[^{}]*"market"[^{}]*\{\}\},/, '')
    return [{ ...action, ...(metaData && { metaData: { ...metaData, schemaString: String(schemaString) } }) }]
  }),
  'the log lacks the schema': log('visibility', ({ metaData, ...action }) => [action]),
  'the coverage is of the future': coverage(() => ({ since: '9999-01-01T00:00:00.000000Z' })),
  'the coverage lacks a brand': coverage(({ brandIds }) => ({
    brandIds: brandIds.filter((id) => id !== its.brandId),
  })),
  'the coverage has other versions of the tables': coverage(() => ({ versions: '7' })),
}

test('a file of another program with the same rows is no difference, whatever the order of its columns', async () => {
  const copy = await copyTo('same')
  await rows('visibility', 'select visible_count, * exclude (visible_count) from rows')(copy)
  expect(await differences(copy)).toEqual([])
})

test.for(Object.entries(TAMPERINGS))('%s', async ([name, tamper]) => {
  const copy = await copyTo(name)
  await tamper(copy)
  expect(await differences(copy)).not.toEqual([])
  await repairFully(copy)
  expect(await differences(copy)).toEqual([])
  const repaired = await openCopy(folderStore(copy))
  expect(coverageOf(repaired)?.brandIds).toEqual([its.brandId, other].sort())
  expect(brandsOf(repaired)).toEqual(new Set([its.brandId, other]))
})

test('a bucket that refuses a request does not cost a file', async () => {
  const copy = await copyTo('refused')
  const store = { ...folderStore(copy), open: () => Promise.reject(new StoreError('fails')) }
  const path = await pathOf(copy, 'sentiment')
  await expect(repair({ ...jobOf(copy, store), full: true })).rejects.toThrow('fails')
  expect(await pathOf(copy, 'sentiment')).toBe(path)
})

test('no sync touches files of other programs', async () => {
  const copy = await copyTo('optimized')
  await tags(() => undefined)(copy)
  for (const work of [differences, repairFully, (copy: string) => sync(jobOf(copy), undefined)])
    await expect(work(copy)).rejects.toThrow('Another program has written ')
})
