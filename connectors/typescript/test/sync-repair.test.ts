import { createHash } from 'node:crypto'
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { startHttpProxy } from '../../../test/faults/http-proxy.ts'
import { answer, brand, database, prompt, refresh } from '../../../test/fixtures/rows.ts'
import { answeredDays, type Scene } from '../../../test/fixtures/scene.ts'
import { createApi } from '../cli/api.ts'
import { StoreError } from '../cli/errors.ts'
import { folderStore } from '../cli/folder-store.ts'
import { keepDays } from '../cli/keep-days.ts'
import { readBase } from '../cli/manifest.ts'
import { createProgress } from '../cli/progress.ts'
import { repair } from '../cli/repair.ts'
import { openCopy } from '../cli/state.ts'
import type { Store } from '../cli/store.ts'
import { sync } from '../cli/sync.ts'
import { verify } from '../cli/verify.ts'
import { duckdb, filesOf, monthFile, readManifest } from './parquet-copy.ts'

// What happens to a copy behind the command's back: verify --full finds it, verify --repair undoes it.

const db = database()
const folder = await mkdtemp(join(tmpdir(), 'sync-repair-'))
const original = join(folder, 'original')
const progress = createProgress({ quiet: true })
const { url, close } = await startHttpProxy(inject('serviceUrl'), () => null)
let its: Scene
let other: string

const jobOf = (copy: string) => ({
  api: createApi({ url, key: its.key }, progress),
  store: folderStore(copy),
  fromDate: undefined,
  progress,
})

beforeAll(async () => {
  its = await answeredDays(db, { first: '2026-09-29', days: 5 })
  await its.say('2026-10-02T00:00:00Z', {
    mentions: ['Acme'],
    citations: [{ url: 'https://a.example/', domain: 'a.example', owned: true }],
  })
  other = await brand(db, its.org, { name: 'Other' })
  const ofOther = await prompt(db, other)
  await answer(db, { ...its, prompt: ofOther, at: '2026-10-01T00:00:00Z', mentions: ['Other'] })
  await refresh(db)
  await sync(jobOf(original), undefined)
  expect(await differences(original)).toEqual([])
})

afterAll(async () => {
  await close()
  await rm(folder, { recursive: true })
})

const pathOf = (copy: string, endpoint: string, month = '2026-10', brandId = its.brandId): string =>
  monthFile(copy, brandId, `${endpoint}/${month}`)

const pathsIn = async (copy: string) => (await readdir(copy, { recursive: true })).sort()

/** Copies the original copy. Returns the path. */
async function copyTo(name: string): Promise<string> {
  const copy = join(folder, name.replaceAll(' ', '-'))
  await cp(original, copy, { recursive: true, preserveTimestamps: true })
  return copy
}

/** Returns the path of a file that sync did not write, next to one that it wrote. */
const newPath = (copy: string, month: string): string =>
  join(dirname(pathOf(copy, 'visibility')), `${month}-0123456789ab.parquet`)

const statePath = (copy: string, brandId = its.brandId): string =>
  join(copy, readManifest(copy).states[brandId] ?? '')

type State = {
  token: string | null
  fromDate: string
  files: Record<string, Record<string, unknown>>
}

async function changeState(copy: string, change: (state: State) => unknown): Promise<void> {
  const state: State = JSON.parse(await readFile(statePath(copy), 'utf8'))
  change(state)
  await writeFile(statePath(copy), JSON.stringify(state))
}

/** Writes the rows of a query in the place of a file, whose rows are the table `rows`, and stores its hash as sync would. */
async function rewrite(copy: string, endpoint: string, query: string): Promise<void> {
  const file = pathOf(copy, endpoint)
  const rows = `select * exclude (endpoint, brand) from '${file}'`
  await duckdb(`create table rows as ${rows}; copy (${query}) to '${file}.new' (format parquet)`)
  await rename(`${file}.new`, file)
  const { size, mtimeMs } = await stat(file)
  const sha256 = createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
  const known = { size, sha256, version: String(mtimeMs) }
  await changeState(copy, ({ files }) => Object.assign(files[`${endpoint}/2026-10`] ?? {}, known))
}

type Tamper = (copy: string) => Promise<unknown>

const rows =
  (endpoint: string, query: string): Tamper =>
  (copy) =>
    rewrite(copy, endpoint, query)

const replaced = (endpoint: string, ...values: string[]): Tamper =>
  rows(endpoint, `select * replace (${values.join(', ')}) from rows`)

const bytes =
  (change: (path: string) => Promise<unknown>): Tamper =>
  (copy) =>
    change(pathOf(copy, 'visibility'))

const state =
  (change: (state: State) => unknown): Tamper =>
  (copy) =>
    changeState(copy, change)

const manifest =
  (change: (manifest: ReturnType<typeof readManifest>) => unknown): Tamper =>
  async (copy) => {
    const content = readManifest(copy)
    change(content)
    await writeFile(join(copy, 'manifest.json'), JSON.stringify(content))
  }

const brandsFile = (copy: string): string => join(copy, readManifest(copy).files.brands?.[0] ?? '')

const swap = async (left: string, right: string) => {
  await rename(left, `${left}.aside`)
  await rename(right, left)
  await rename(`${left}.aside`, right)
}

const FIRST_DAY = "date = '2026-10-01'"

const TAMPERINGS: Readonly<Record<string, Tamper>> = {
  'a file is emptied': bytes((path) => truncate(path, 0)),
  'a file is cut': bytes((path) => truncate(path, 100)),
  'a file is one byte shorter': bytes(async (path) => truncate(path, (await stat(path)).size - 1)),
  'a file is longer': bytes(async (path) =>
    writeFile(path, Buffer.concat([await readFile(path), Buffer.from('x')])),
  ),
  'a file has another byte': bytes(async (path) => {
    const content = await readFile(path)
    content[20] = (content[20] ?? 0) ^ 1
    await writeFile(path, content)
  }),
  'a file is text': bytes((path) => writeFile(path, 'date,market\n')),
  'a file is deleted': bytes((path) => rm(path)),
  'a file is a folder': bytes(async (path) => {
    await rm(path)
    await mkdir(path)
  }),
  'a folder of files is deleted': (copy) => rm(dirname(pathOf(copy, 'visibility')), { recursive: true }),
  'a file is a link to another file': bytes(async (path) => {
    await rename(path, `${path}.target`)
    await symlink(`${path}.target`, path)
  }),
  'a row is deleted': rows('visibility', `from rows where not (${FIRST_DAY})`),
  'all rows are deleted': rows('visibility', 'from rows limit 0'),
  'a row is there twice': rows('visibility', `from rows union all from rows where ${FIRST_DAY}`),
  'all rows are there three times': rows('visibility', 'from rows union all from rows union all from rows'),
  'a row of a new day is added': rows(
    'visibility',
    `from rows union all select * replace (date '2026-10-30' as date) from rows where ${FIRST_DAY}`,
  ),
  'a count is another': replaced('visibility', 'visible_count + 1 as visible_count'),
  'a count is negative': replaced('visibility', '-visible_count as visible_count'),
  'a count is null': replaced('visibility', 'null::bigint as total_prompts'),
  'two counts of a row are exchanged': replaced(
    'recommended-rate',
    'judged_answers + recommended_rate::bigint as judged_answers',
    'recommended_rate - recommended_rate::bigint as recommended_rate',
  ),
  'values of two rows are exchanged': replaced('recommended-rate', 'not is_brand as is_brand'),
  'a rate is another': replaced('visibility', 'visibility_rate + 0.0001 as visibility_rate'),
  'a weight is another': replaced('sentiment', 'positive_weight + 0.0001 as positive_weight'),
  'a score is null': replaced('sentiment', 'null::double as sentiment_score'),
  'a flag is another': replaced('citations', 'not is_owned as is_owned'),
  'a URL is another': replaced('citations', "url || '?' as url"),
  'a URL has other letters': replaced('citation-share', 'upper(url) as url'),
  'an entity is renamed': replaced('competitors', "'Renamed' as competitor_name"),
  'a name has a space at its end': replaced('competitors', "competitor_name || ' ' as competitor_name"),
  'a market is another': replaced('visibility', "market || '!' as market"),
  'an identifier is another': replaced('visibility', 'uuid()::text as market_id'),
  'a null is an empty text': replaced('citations', "coalesce(domain, '') as domain"),
  'an empty text is null': replaced('visibility', 'null::varchar as provider'),
  'days are shifted': replaced('visibility', '(date + 1)::date as date'),
  'rows are of another brand': replaced('visibility', 'uuid()::text as brand_id'),
  'a column is dropped': rows('visibility', 'select * exclude (market) from rows'),
  'a column is added': rows('visibility', 'select *, 1 as extra from rows'),
  'a column is renamed': rows('visibility', 'select * rename (market as region) from rows'),
  'columns have another order': rows(
    'visibility',
    'select visible_count, * exclude (visible_count) from rows',
  ),
  'a count is a floating-point number': replaced('visibility', 'visible_count::double as visible_count'),
  'a count is a text': replaced('visibility', 'visible_count::varchar as visible_count'),
  'a date is a text': replaced('visibility', 'date::varchar as date'),
  'a date is a timestamp': replaced('visibility', 'date::timestamp as date'),
  'a rate is a decimal': replaced('visibility', 'visibility_rate::decimal(7, 4) as visibility_rate'),
  'there is a file of another month': (copy) => cp(pathOf(copy, 'visibility'), newPath(copy, '2026-12')),
  'there is another file of a month': (copy) => cp(pathOf(copy, 'visibility'), newPath(copy, '2026-10')),
  'there is a file in capitals': (copy) =>
    cp(pathOf(copy, 'visibility'), pathOf(copy, 'visibility').replace('.parquet', '.PARQUET')),
  'there is a file of an unknown brand': (copy) =>
    cp(pathOf(copy, 'visibility'), newPath(copy, '2026-10').replace(its.brandId, 'unknown')),
  'there is a file in the folder': (copy) =>
    cp(pathOf(copy, 'visibility'), join(copy, 'endpoint=visibility', 'extra.parquet')),
  'two months are exchanged': (copy) =>
    swap(pathOf(copy, 'visibility'), pathOf(copy, 'visibility', '2026-09')),
  'two brands are exchanged': (copy) =>
    swap(pathOf(copy, 'visibility'), pathOf(copy, 'visibility', '2026-10', other)),
  'two endpoints are exchanged': (copy) => swap(pathOf(copy, 'citations'), pathOf(copy, 'citation-share')),
  'the file of another brand is copied': (copy) =>
    cp(pathOf(copy, 'visibility', '2026-10', other), pathOf(copy, 'visibility')),
  'the brands are deleted': (copy) => rm(brandsFile(copy)),
  'the brands are others': (copy) => cp(pathOf(copy, 'visibility'), brandsFile(copy)),
  'the manifest lacks a file': manifest(({ files }) => files.visibility?.pop()),
  'the manifest names a file twice': manifest(({ files }) =>
    files.visibility?.push(files.visibility[0] ?? ''),
  ),
  'the manifest names the file of another endpoint': manifest(({ files }) =>
    files.visibility?.push(files.sentiment?.[0] ?? ''),
  ),
  'the manifest lacks the state of a brand': manifest(({ states }) => delete states[its.brandId]),
  'the manifest has the state of another brand': manifest(({ states }) => {
    states[its.brandId] = states[other] ?? ''
  }),
  'the state has a token of the future': state((it) => {
    it.token = '9999-01-01T00:00:00.000000Z'
  }),
  'the state has another hash': state(({ files }) => {
    Object.assign(files['visibility/2026-10'] ?? {}, { sha256: '0'.repeat(64) })
  }),
  'the state lacks a file': state(({ files }) => {
    delete files['visibility/2026-10']
  }),
  'the state has a file that is not there': state(({ files }) => {
    files['visibility/2026-08'] = files['visibility/2026-10'] ?? {}
  }),
  'the state is deleted': (copy) => rm(statePath(copy)),
  'the state is that of another brand': (copy) => cp(statePath(copy, other), statePath(copy)),
  'the state begins later, without a row that it had': async (copy) => {
    await rewrite(copy, 'visibility', `from rows where not (${FIRST_DAY})`)
    await changeState(copy, (it) => {
      it.fromDate = '2026-10-02'
    })
  },
}

test('there are enough kinds', () => expect(Object.keys(TAMPERINGS).length).toBeGreaterThanOrEqual(50))

async function differences(copy: string): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const difference of verify({ ...jobOf(copy), full: true })) found.push(difference)
  return found
}

test.for(Object.entries(TAMPERINGS))('%s', async ([name, tamper]) => {
  const copy = await copyTo(name)
  await tamper(copy)
  expect(await differences(copy)).not.toEqual([])
  await repair({ ...jobOf(copy), full: true })
  expect(await differences(copy)).toEqual([])
  expect(Object.keys(readManifest(copy).states).sort()).toEqual([its.brandId, other].sort())
})

test.for<[string, Partial<Store>]>([
  ['a disk is full', { create: () => Promise.reject(new Error('fails')) }],
  ['a bucket refuses a request', { open: () => Promise.reject(new StoreError('fails')) }],
])('%s while a file is written again, which does not cost the file', async ([name, failing]) => {
  const copy = await copyTo(name)
  const store = folderStore(copy)
  const opened = await openCopy(await readBase(store), its.brandId)
  const failed = keepDays({ ...opened, store: { ...store, ...failing } }, 'visibility/2026-10')
  await expect(failed).rejects.toThrow('fails')
  expect(await differences(copy)).toEqual([])
})

test('a state that is lost costs no day that the plan does not reach', async () => {
  const copy = await copyTo('state')
  const count = () =>
    duckdb(
      `set variable files = ${filesOf(copy, 'visibility')};
       select month(date) as month, count(*) as days from read_parquet(getvariable('files')) group by all order by all`,
    )
  const before = await count()
  await rm(statePath(copy))
  await sync({ ...jobOf(copy), fromDate: '2026-10-02' }, undefined)
  expect(await count()).toEqual(before)
})

test('a manifest that is lost is an error, and costs no file', async () => {
  const copy = join(folder, 'manifest')
  await sync(jobOf(copy), undefined)
  // The next sync stores it again. The state of the other brand stays where the first sync has stored it.
  await rm(statePath(copy))
  await sync(jobOf(copy), undefined)
  await rm(join(copy, 'manifest.json'))
  const before = await pathsIn(copy)
  const message = /manifest\.json is missing\. Restore it\. /
  await expect(sync(jobOf(copy), undefined)).rejects.toThrow(message)
  await expect(repair({ ...jobOf(copy), full: true })).rejects.toThrow(message)
  expect(await pathsIn(copy)).toEqual(before)
})

test('sync and repair leave the files of others, and another copy', async () => {
  const copy = await copyTo('shared')
  await cp(original, join(copy, 'other'), { recursive: true, preserveTimestamps: true })
  await cp(pathOf(copy, 'visibility'), join(copy, 'sales', '2025.parquet'))
  await writeFile(join(copy, '_state', 'terraform.json'), '{}')
  const before = await pathsIn(copy)
  await cp(pathOf(copy, 'visibility'), join(copy, 'endpoint=visibility', 'extra.parquet'))
  await repair({ ...jobOf(copy), full: true })
  expect(await pathsIn(copy)).toEqual(before)
})

test('repair completes no copy of a part', async () => {
  const copy = join(folder, 'part')
  await sync({ ...jobOf(copy), endpoints: ['visibility'], toDate: '2026-10-01' }, undefined)
  const rows = `from '${copy}/endpoint=*/brand=*/*.parquet'`
  const before = await duckdb(rows)
  await truncate(pathOf(copy, 'visibility'), 0)
  await cp(pathOf(copy, 'visibility', '2026-09'), newPath(copy, '2026-10').replace(original, copy))
  await repair({ ...jobOf(copy), full: true })
  expect(await duckdb(rows)).toEqual(before)
})

test('the next sync writes a file again that has the columns of another version', async () => {
  const copy = await copyTo('columns')
  await rewrite(copy, 'visibility', 'select * exclude (market) from rows')
  await changeState(copy, ({ files }) =>
    Object.assign(files['visibility/2026-10'] ?? {}, { schema: 'another' }),
  )
  await sync(jobOf(copy), undefined)
  expect(await differences(copy)).toEqual([])
})
