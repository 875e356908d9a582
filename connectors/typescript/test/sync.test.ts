import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, inject, test } from 'vitest'
import { PAGE_SIZE } from '../../../lib/rows/size.ts'
import { readStreams } from '../../../site/reference/streams.ts'
import { pull } from '../../../test/fixtures/call.ts'
import { brand, database, refresh } from '../../../test/fixtures/rows.ts'
import { answeredDays } from '../../../test/fixtures/scene.ts'
import { certify } from '../../certify/certify.ts'
import { startFaultProxy } from '../../certify/fault-proxy.ts'
import { folderStore } from '../cli/folder-store.ts'
import { duckdb, exportApi, filesIn, METRICS, tableOf } from './copy-command.ts'

const db = database()
const folder = await mkdtemp(join(tmpdir(), 'sync-'))

afterAll(() => rm(folder, { recursive: true }))

// They mostly wait.
test.concurrent('keeps every promise of certify', async () => {
  const copy = join(folder, 'certified')
  const views = join(folder, 'views.duckdb')
  const verdicts = await certify({
    command: async ({ EXPORT_API_URL: url, EXPORT_API_KEY: key, EXPORT_API_START_DATE: from }) => {
      const { code, stderr } = await exportApi({ key, url }, 'sync', '--out', copy, '--from', from)
      const streams = readStreams().filter(({ kind }) => kind !== 'changes')
      const statements = streams.map(
        async ({ name, endpoint }) =>
          `create or replace view ${name} as from ${await tableOf(copy, endpoint)}`,
      )
      await duckdb((await Promise.all(statements)).join(';'), { file: views })
      return { code: code ?? -1, output: stderr }
    },
    copy: `duckdb:${views}`,
  })
  expect(verdicts.filter(({ kept }) => !kept)).toEqual([])
  expect(verdicts.length).toBeGreaterThan(10)
  // The brands, and one list of the changes of both.
  expect(verdicts[1]).toMatchObject({ requests: 2 })
})

test.concurrent('sends a request for each page and list', async ({ onTestFinished }) => {
  const its = await answeredDays(db, { first: '2026-09-20', days: 45 })
  const citations = Array.from({ length: 1500 }, (_, index) => ({ url: `https://site.example/${index}` }))
  await its.say('2026-10-05T00:00:00Z', { mentions: ['Acme'], citations })
  await brand(db, its.org, { name: 'Empty' })
  await refresh(db)
  const copy = join(folder, 'counted')
  const asked: string[] = []
  const { url, close } = await startFaultProxy(inject('serviceUrl'), ({ url = '' }) => {
    asked.push(new URL(url, 'http://host').pathname.replace('/api/export/v1', ''))
    return null
  })
  onTestFinished(close)
  const sync = async (...args: string[]) => {
    asked.length = 0
    const { code, log } = await exportApi({ ...its, url }, 'sync', '--out', copy, ...args)
    return { code, last: log.at(-1), asked: [...asked].sort() }
  }
  const query = { brandId: its.brandId, fromDate: '2026-01-01' }
  const counts = METRICS.map(
    async ({ endpoint }) => (await pull(`/${endpoint}`, { key: its.key, query })).length,
  )
  const served = await Promise.all(counts)
  const rows = served.reduce((sum, count) => sum + count, 0)
  const pages = METRICS.flatMap(({ endpoint }, index) =>
    Array<string>(Math.ceil((served[index] ?? 0) / PAGE_SIZE)).fill(`/${endpoint}`),
  )
  // At first, each brand is listed alone, and the one without changes again after the other.
  const lists = ['/brands', '/changes', '/changes', '/changes']
  expect(await sync('--dry-run')).toMatchObject({
    code: 0,
    last: { event: 'dry_run', rows },
    asked: lists.slice(0, 3),
  })
  expect(await readdir(folder)).not.toContain('counted')
  const first = await sync()
  const endpoints = [...METRICS.map(({ endpoint }) => endpoint), 'brands']
  const files = (await Promise.all(endpoints.map((endpoint) => filesIn(folderStore(copy), endpoint)))).flat()
  const sizes = await Promise.all(files.map((path) => stat(join(copy, path))))
  const copyBytes = sizes.reduce((sum, { size }) => sum + size, 0)
  const requests = pages.length + lists.length
  expect(first).toMatchObject({
    code: 0,
    last: { event: 'done', requests, rows, copyRows: rows, copyFiles: files.length, copyBytes },
    asked: [...lists, ...pages].sort(),
  })
  const message = expect.stringMatching(
    /^Nothing changed\. .*\. It equals the service as of 20\d\d-.* UTC\. /,
  )
  expect(await sync()).toMatchObject({
    last: { rows: 0, copyRows: rows, message },
    asked: ['/brands', '/changes'],
  })
})
