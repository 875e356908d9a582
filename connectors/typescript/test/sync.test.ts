import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, inject, test } from 'vitest'
import { readStreams } from '../../../reference/streams.ts'
import { startHttpProxy } from '../../../test/faults/http-proxy.ts'
import { pull } from '../../../test/fixtures/call.ts'
import { answer, brand, database, prompt, refresh } from '../../../test/fixtures/rows.ts'
import { answeredDays, scene } from '../../../test/fixtures/scene.ts'
import { certify } from '../../../tools/certify/certify.ts'
import { startProxy } from '../../../tools/certify/proxy.ts'
import { addDays } from '../cli/days.ts'
import { killSync } from './kill-sync.ts'
import { duckdb, expectExact, exportApi, METRICS, monthFile, readManifest } from './parquet-copy.ts'

// They mostly wait.
const CONCURRENT = { concurrent: true }

const db = database()
const folder = await mkdtemp(join(tmpdir(), 'sync-'))

afterAll(() => rm(folder, { recursive: true }))

const FIRST = '2026-09-20'

test(
  'a copy that was killed 50 times under restatements equals the service',
  CONCURRENT,
  async ({ expect }) => {
    const its = await answeredDays(db, { first: FIRST, days: 60 })
    const copy = join(folder, 'killed')
    expect(await killSync({ db, its, first: FIRST, copy, kills: 50 })).toBe(50)
    expect(await exportApi(its, 'sync', '--out', copy)).toMatchObject({ code: 0 })
    await expectExact(expect, { db, copy, ...its })
    expect(await exportApi(its, 'verify', copy, '--full')).toMatchObject({ code: 0 })
    // A pattern reads the same files as the manifest names, and no file of a killed sync is left.
    const files = (await readdir(copy, { recursive: true })).filter((path) => /parquet|unfinished/.test(path))
    expect(files.sort()).toEqual(Object.values(readManifest(copy).files).flat().sort())
  },
)

/** Returns the size of all Parquet files in a folder. */
async function bytesOf(copy: string): Promise<number> {
  const paths = (await readdir(copy, { recursive: true })).filter((path) => path.endsWith('.parquet'))
  const sizes = await Promise.all(paths.map(async (path) => (await stat(join(copy, path))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

test('keeps every promise of certify', CONCURRENT, async ({ expect }) => {
  const copy = join(folder, 'certified')
  const views = join(folder, 'views.duckdb')
  const verdicts = await certify({
    command: async ({ EXPORT_API_URL: url, EXPORT_API_KEY: key, EXPORT_API_START_DATE: from }) => {
      const { code, stderr } = await exportApi({ key, url }, 'sync', '--out', copy, '--from', from)
      const { files } = readManifest(copy)
      const statements = readStreams()
        .filter(({ kind }) => kind !== 'changes')
        .map(({ name, endpoint }) => {
          const paths = files[endpoint]?.map((path) => `'${copy}/${path}'`)
          return `create or replace view ${name} as from read_parquet([${paths}])`
        })
      await duckdb(statements.join(';'), { file: views })
      return { code: code ?? -1, output: stderr }
    },
    copy: `duckdb:${views}`,
  })
  expect(verdicts.filter(({ kept }) => !kept)).toEqual([])
  expect(verdicts.length).toBeGreaterThan(10)
  // The brands, and one list of the changes of both.
  expect(verdicts[1]).toMatchObject({ requests: 2 })
})

test(
  'sends a request for each page and list, and restores a file that was deleted',
  CONCURRENT,
  async ({ expect, onTestFinished }) => {
    const its = await answeredDays(db, { first: FIRST, days: 45 })
    const citations = Array.from({ length: 1500 }, (_, index) => ({ url: `https://site.example/${index}` }))
    await its.say('2026-10-05T00:00:00Z', { mentions: ['Acme'], citations })
    await brand(db, its.org, { name: 'Empty' })
    await refresh(db)
    const asked: string[] = []
    const { url, close } = await startHttpProxy(inject('serviceUrl'), (request) => {
      asked.push(new URL(request.url ?? '', 'http://host').pathname.replace('/api/export/v1', ''))
      return null
    })
    onTestFinished(close)
    const copy = join(folder, 'counted')
    const sync = async (...args: string[]) => {
      asked.length = 0
      const { code, log } = await exportApi({ ...its, url }, 'sync', '--out', copy, ...args)
      return { code, last: log.at(-1), asked: [...asked].sort() }
    }
    const served = await Promise.all(
      METRICS.map(async ({ endpoint }) => {
        const query = { brandId: its.brandId, fromDate: '2026-01-01' }
        return { path: `/${endpoint}`, rows: (await pull(`/${endpoint}`, { key: its.key, query })).length }
      }),
    )
    const pages = served.flatMap(({ path, rows }) => Array<string>(Math.ceil(rows / 1000)).fill(path))
    // Without tokens, each brand is listed alone. The brand without rows never had one before the second round.
    const lists = ['/brands', '/changes', '/changes', '/changes', '/changes']
    expect(await sync('--dry-run')).toMatchObject({
      code: 0,
      last: { event: 'dry_run', rows: served.reduce((sum, { rows }) => sum + rows, 0) },
      asked: ['/brands', '/changes', '/changes'],
    })
    expect(await readdir(folder)).not.toContain('counted')
    const first = await sync()
    expect(first).toEqual({
      code: 0,
      last: {
        ts: expect.any(String),
        level: 'info',
        event: 'done',
        message: expect.any(String),
        requests: pages.length + lists.length,
        rows: served.reduce((sum, { rows }) => sum + rows, 0),
        copyRows: served.reduce((sum, { rows }) => sum + rows, 0),
        copyFiles: Object.values(readManifest(copy).files).flat().length,
        copyBytes: await bytesOf(copy),
      },
      asked: [...lists, ...pages].sort(),
    })
    expect(await sync()).toMatchObject({
      last: {
        rows: 0,
        copyRows: served.reduce((sum, { rows }) => sum + rows, 0),
        message: expect.stringMatching(
          /^Nothing changed\. .*\. It equals the service as of 20\d\d-.* UTC\. /,
        ),
      },
      asked: ['/brands', '/changes'],
    })
    await rm(monthFile(copy, its.brandId, 'visibility/2026-10'))
    expect(await sync()).toMatchObject({
      code: 0,
      // The other brand, this brand alone, and both at the end.
      asked: ['/brands', '/changes', '/changes', '/changes', '/visibility'],
    })
    await expectExact(expect, { db, copy, ...its })

    const load = pages.length
    for (let day = 0; day < 45; day += 2) await its.say(`${addDays(FIRST, day)}T01:00:00Z`)
    await refresh(db)
    const scattered = await sync()
    expect(scattered.asked.filter((path) => path !== '/brands' && path !== '/changes').length).toBeLessThan(
      load,
    )
    expect(scattered.last).toMatchObject({ event: 'done' })
    await expectExact(expect, { db, copy, ...its })
  },
)

test(
  'fails while rows arrive altered, and replaces them afterwards',
  CONCURRENT,
  async ({ expect, onTestFinished }) => {
    const its = await answeredDays(db, { first: '2026-01-01', days: 3 })
    const { url, begin, close } = await startProxy(inject('serviceUrl'))
    onTestFinished(close)
    const copy = join(folder, 'altered')
    begin(Array(100).fill({ alter: 'rename' }))
    const { code, stderr } = await exportApi({ ...its, url }, 'sync', '--out', copy)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^Not up to date: Acme: .* has digest \w{15} instead of \w{15}, in each of 3 attempts\. /,
      ),
    })
    begin()
    // Altered days that the plan does not reach wait until it does.
    for (const plan of ['pro', 'enterprise']) {
      await db.query('update subscriptions set plan = $2 where organization_id = $1', [its.org.id, plan])
      expect(await exportApi({ ...its, url }, 'sync', '--out', copy)).toMatchObject({ code: 0 })
    }
    expect(await exportApi({ ...its, url }, 'verify', copy, '--full')).toMatchObject({ code: 0 })
  },
)

test(
  'updates all brands but the one that fails, and names it',
  CONCURRENT,
  async ({ expect, onTestFinished }) => {
    const its = await scene(db)
    const brandIds = [its.brandId]
    for (const name of ['B', 'C', 'D', 'E']) brandIds.push(await brand(db, its.org, { name }))
    for (const brandId of brandIds) {
      const of = await prompt(db, brandId)
      await answer(db, { ...its, prompt: of, at: `${FIRST}T00:00:00Z`, mentions: [] })
    }
    await refresh(db)
    const { url, close } = await startHttpProxy(inject('serviceUrl'), (request) => {
      const isBroken = request.url?.includes('/visibility') && request.url.includes(brandIds[1] ?? '')
      return isBroken ? { status: 404, error: 'Not this brand.' } : null
    })
    onTestFinished(close)
    const copy = join(folder, 'failing')
    const { code, stderr } = await exportApi({ ...its, url }, 'sync', '--out', copy)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'Not up to date: B: Not this brand. Other brands are up to date.\n',
    })
    const copied = readManifest(copy).files.visibility?.map((path) => /brand=([^/]+)/.exec(path)?.[1])
    expect(copied?.sort()).toEqual(brandIds.filter((id) => id !== brandIds[1]).sort())
    expect(await exportApi({ ...its, url }, 'verify', copy)).toMatchObject({
      code: 1,
      log: expect.arrayContaining([
        expect.objectContaining({
          event: 'differs',
          message: expect.stringMatching(/: The first sync of this brand has not ended\.$/),
        }),
      ]),
    })
    await writeFile(join(copy, readManifest(copy).states[brandIds[2] ?? ''] ?? ''), '{')
    expect(await exportApi({ ...its, url }, 'sync', '--out', copy)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^Not up to date: C: .*\.json is damaged\. Delete it: .* B: Not this brand\. Other brands are up to date\.$/m,
      ),
    })
  },
)

test(
  'a sync of one brand keeps what a stopped one has loaded of the others',
  CONCURRENT,
  async ({ expect, onTestFinished }) => {
    const its = await answeredDays(db, { first: FIRST, days: 2 })
    const other = await brand(db, its.org, { name: 'Zoo' })
    const { url, close } = await startHttpProxy(inject('serviceUrl'), ({ url }) =>
      url?.includes('/sentiment') ? { status: 403 } : null,
    )
    onTestFinished(close)
    const copy = join(folder, 'stopped')
    expect(await exportApi({ ...its, url }, 'sync', '--out', copy)).toMatchObject({ code: 2 })
    const loaded = (await readdir(copy, { recursive: true })).filter((path) =>
      /brand=.*\.parquet$/.test(path),
    )
    expect(loaded.length).toBeGreaterThan(0)
    expect(await exportApi(its, 'sync', '--out', copy, '--brand', other)).toMatchObject({ code: 0 })
    expect(await exportApi(its, 'sync', '--out', copy)).toMatchObject({ code: 0 })
    expect(Object.values(readManifest(copy).files).flat()).toEqual(expect.arrayContaining(loaded))
  },
)
