import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { startHttpProxy } from '../../../test/faults/http-proxy.ts'
import { readCodeBlocks } from '../../../test/fixtures/code-blocks.ts'
import { database, refresh } from '../../../test/fixtures/rows.ts'
import { answeredDays, type Scene } from '../../../test/fixtures/scene.ts'
import manifest from '../package.json' with { type: 'json' }
import { duckdb, expectExact, exportApi, start } from './parquet-copy.ts'

// The options, lines and exit codes of the command.

const db = database()
const folder = await mkdtemp(join(tmpdir(), 'command-'))
let its: Scene
beforeAll(async () => {
  its = await answeredDays(db, { first: '2026-10-30', days: 4 })
})
afterAll(() => rm(folder, { recursive: true }))

/** Each copy has a rate limit of its own. */
const sync = (name: string, ...args: string[]) =>
  exportApi(its, 'sync', '--out', join(folder, name), '--user-agent', name, ...args)

test.each([
  [['sync'], /--out <folder>/],
  [['sync', '--out', 'x', '--from', '2026-13-01'], /'--from <date>' argument '2026-13-01' is invalid/],
  [['sync', '--out', 'x', '--from', '2026-02-31'], /'--from <date>' argument '2026-02-31' is invalid/],
  [['sync', '--out', 'x', '--endpoint', 'brands'], /'--endpoint <name...>' argument 'brands' is invalid/],
  [['sync', '--out', 'x', '--concurrency', '0'], /'--concurrency <number>' argument '0' is invalid/],
  [['sync', '--out', 'gs://bucket/x'], /^Use a folder or s3:\/\/bucket\/prefix instead of gs:/m],
  [['sync', '--out', 'package.json'], /^package\.json is a file\. Use a folder\.$/m],
  [
    ['sync', '--out', 'docs'],
    /^docs has no copy, but other files: .* and \d+ more\. Use a new folder, such as docs\/copy\.$/m,
  ],
  [
    ['sync', '--out', 's3://bucket/x', '--report'],
    /^--report needs a folder\. Run export-api report s3:\/\/bucket\/x /m,
  ],
  [
    ['sync', '--out', 'x', '--dry-run', '--brand', 'Halden'],
    /^The key does not read brand Halden\. It reads Acme \(/m,
  ],
  [
    ['verify', 'x', '--url', 'service.example'],
    /^EXPORT_API_URL or --url must look like https:\/\/api\.example\.com\./m,
  ],
  [['copy'], /^Unknown command 'copy'\. See export-api --help\.$/m],
  [
    ['sync', '--out', 'x', '--key=svc_live_1'],
    /^Unknown option '--key=svc_live_…'\. See export-api --help\.$/m,
  ],
])('wrong usage ends with 64: %j', async (args, message) => {
  const { code, stderr } = await exportApi(its, ...args)
  expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringMatching(message) })
})

test.each([
  [{ EXPORT_API_URL: '' }, 'The address of the service is missing. Set EXPORT_API_URL or --url.\n'],
  [{ EXPORT_API_KEY: '' }, 'The key is missing. Set EXPORT_API_KEY.\n'],
])('a setting that is missing ends with 64 and a line: %j', async (env, message) => {
  const { code, stderr } = await exportApi({ ...its, env }, 'sync', '--out', 'x')
  expect({ code, stderr }).toEqual({ code: 64, stderr: message })
})

test.each([
  ['--help'],
  ['sync', '--help'],
  ['verify', '--help'],
  ['report', '--help'],
])('helps without any setting: %s', async (...args) => {
  const child = start({ key: '', url: '' }, args)
  const [stdout] = await Promise.all([text(child.stdout), once(child, 'close')])
  expect({ code: child.exitCode, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^Usage: export-api /),
  })
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends a sync with %d, and the next one resumes', async (signal, code) => {
  let stop = () => {}
  const proxy = await startHttpProxy(inject('serviceUrl'), async ({ url }) => {
    if (!url?.includes('/sentiment')) return null
    stop()
    return new Promise(() => {})
  })
  const child = start({ ...its, url: proxy.url }, [
    'sync',
    '--out',
    join(folder, signal),
    '--user-agent',
    signal,
  ])
  stop = () => child.kill(signal)
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  await proxy.close()
  expect({ code: child.exitCode, stderr }).toEqual({ code, stderr: '' })
  expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
    event: 'stopped',
    message: 'Stopped. The next run resumes where this one ended.',
  })
  expect(await sync(signal)).toMatchObject({ code: 0 })
  expect(await readdir(join(folder, signal))).not.toContain('_lock')
})

test('--report draws the charts of the copy', async () => {
  const { code, log } = await sync('drawn', '--report')
  const report = join(folder, 'drawn', 'report.html')
  expect({ code, log: log.slice(-2) }).toMatchObject({
    code: 0,
    log: [
      { event: 'report', out: report, brands: 1 },
      { event: 'done', message: expect.stringMatching(`Open ${report} in a browser.$`) },
    ],
  })
  expect(await readFile(report, 'utf8')).toMatch(/^<!doctype html>/)
})

test('an error is the last line, too, and ends with 2', async () => {
  const { code, stderr, log } = await exportApi({ key: 'svc_live_0' }, 'sync', '--out', join(folder, 'none'))
  expect({ code, last: log.at(-1) }).toEqual({
    code: 2,
    last: {
      ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      level: 'error',
      event: 'failed',
      message: stderr.trim(),
      exitCode: 2,
    },
  })
})

test('prints its version, and nothing when it is quiet', async () => {
  const child = start(its, ['--version'])
  const [version] = await child.stdout.toArray()
  expect(String(version)).toBe(`${manifest.version}\n`)
  expect(await sync('quiet', '--quiet')).toMatchObject({ code: 0, log: [], stderr: '' })
})

test('verify trusts the hashes that sync stored, unless it is full', async () => {
  const copy = join(folder, 'trusted')
  expect(await sync('trusted')).toMatchObject({ code: 0 })
  const verified = async (...args: string[]) => (await exportApi(its, 'verify', copy, ...args)).log.at(-1)
  expect(await verified()).toMatchObject({ event: 'verified', differences: 0, rows: 0, files: 13, days: 24 })
  expect(await verified('--full')).toMatchObject({ event: 'verified', differences: 0, rows: 28 })
  await its.say('2026-10-31T00:00:00Z', { mentions: ['Acme'] })
  await refresh(db)
  expect(await verified()).toMatchObject({ event: 'failed', exitCode: 1 })
  expect(await verified('--repair')).toMatchObject({ event: 'verified', differences: 0 })
})

test('a copy of a part is completed by a sync of more', async () => {
  const parts = [
    ['--endpoint', 'visibility', '--to', '2026-10-31'],
    ['--endpoint', 'visibility', 'sentiment'],
    ['--from', '2026-11-01'],
    [],
  ]
  const rows: unknown[] = []
  for (const part of parts) {
    const { code, log } = await sync('parts', ...part)
    expect(code).toBe(0)
    expect(await exportApi(its, 'verify', join(folder, 'parts'), '--full')).toMatchObject({ code: 0 })
    rows.push(log.at(-1)?.rows)
  }
  // Two days of visibility, then its other days and those of sentiment.
  expect(rows.slice(0, 2)).toEqual([2, 6])
  await expectExact(expect, { db, copy: join(folder, 'parts'), brandId: its.brandId })
  expect(await sync('parts')).toMatchObject({ log: [{ event: 'done', rows: 0 }] })
})

test('DuckDB reads a copy with the statements of the README', async () => {
  const copy = join(folder, 'queried')
  expect(await sync('queried')).toMatchObject({ code: 0 })
  const [statements = ''] = (await readCodeBlocks('../connectors/typescript/README.md'))(
    'Parquet files',
    'sql',
  )
  expect(await duckdb(statements.replaceAll("'copy/", `'${copy}/`))).toEqual([
    { market: expect.any(String), visibility: expect.any(Number) },
  ])
})
