import { once } from 'node:events'
import { mkdtemp, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { portOf } from '../../../cli/local/port.ts'
import { hasAll } from '../../../test/fixtures/programs.ts'
import { database, refresh } from '../../../test/fixtures/rows.ts'
import { answeredDays, type Scene } from '../../../test/fixtures/scene.ts'
import { startTlsServer } from '../../../test/fixtures/tls-server.ts'
import { startFaultProxy } from '../../certify/fault-proxy.ts'
import { folderStore } from '../cli/folder-store.ts'
import manifest from '../package.json' with { type: 'json' }
import { exportApi, filesIn, outputOf, start } from './copy-command.ts'

// The options, lines and exit codes of the command.

const db = database()
const folder = await mkdtemp(join(tmpdir(), 'command-'))
let its: Scene
beforeAll(async () => {
  its = await answeredDays(db, { first: '2026-10-30', days: 4 })
})
afterAll(() => rm(folder, { recursive: true }))

const sync = (name: string, ...args: string[]) => exportApi(its, 'sync', '--out', join(folder, name), ...args)

test.each([
  ['sync', /--out <folder>/],
  ['sync --out x --from 2026-13-01', /'--from <date>' argument '2026-13-01' is invalid/],
  ['sync --out x --from 2026-02-31', /'--from <date>' argument '2026-02-31' is invalid/],
  ['sync --out x --from 2026-10-02 --to 2026-10-01', /^--from 2026-10-02 is after --to 2026-10-01\.$/m],
  ['sync --out x --endpoint brands', /'--endpoint <name...>' argument 'brands' is invalid/],
  ['sync --out x --concurrency 0', /'--concurrency <number>' argument '0' is invalid/],
  ['sync --out gs://bucket/x', /^Use a folder or s3:\/\/bucket\/prefix instead of gs:/m],
  ['sync --out s3://b/x --report', /^--report needs a folder\. Run export-api report s3:\/\/b\/x /m],
  ['sync --out x --dry-run --brand \u001b]0;x\u0007', /name \\u001b\]0;x\\u0007\. Choose from Acme \(/],
  [
    'verify x --url service.example',
    /^EXPORT_API_URL or --url must look like https:\/\/api\.example\.com\./m,
  ],
  ['copy', /^Unknown command 'copy'\. See export-api --help\.$/m],
  ['sync --out x --key=svc_live_1', /^Unknown option '--key=svc_live_…'\. See export-api --help\.$/m],
])('wrong usage ends with 64: %s', async (args, message) => {
  const { code, stderr } = await exportApi(its, ...args.split(' '))
  expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringMatching(message) })
})

test.runIf(hasAll('openssl'))('requests go through HTTPS_PROXY, those to this machine do not', async () => {
  const service = await startTlsServer((_, response) => response.writeHead(401).end('{"error":"Rejected."}'))
  const asked: (string | undefined)[] = []
  const proxy = createServer()
  proxy.on('connect', ({ url }, socket) => {
    asked.push(url)
    const target = connect(Number(new URL(service.url).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      socket.pipe(target).pipe(socket)
    })
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void proxy.close())
  const address = `http://127.0.0.1:${portOf(proxy)}`
  const trusting = { HTTPS_PROXY: address, NODE_EXTRA_CA_CERTS: service.certificate }
  const far = { ...its, url: 'https://service.example', env: trusting }
  expect(await exportApi(far, 'sync', '--out', 'x')).toMatchObject({ code: 2, stderr: 'Rejected.\n' })
  expect(asked).toEqual(['service.example:443'])
  const near = await exportApi({ ...its, env: { HTTP_PROXY: address } }, 'sync', '--out', 'x', '--dry-run')
  expect(near).toMatchObject({ code: 0, stderr: '' })
  expect(asked).toHaveLength(1)
})

test('a setting that is missing ends with 64 and a line', async () => {
  const withEnv = (env: Record<string, string>) => exportApi({ ...its, env }, 'sync', '--out', 'x')
  const url = 'The address of the service is missing. Set EXPORT_API_URL or --url.\n'
  expect(await withEnv({ EXPORT_API_URL: '' })).toMatchObject({ code: 64, stderr: url })
  const key = 'The key is missing. Set EXPORT_API_KEY.\n'
  expect(await withEnv({ EXPORT_API_KEY: '' })).toMatchObject({ code: 64, stderr: key })
})

test.each([
  '--help',
  'sync --help',
  'verify --help',
  'report --help',
])('helps without any setting: %s', async (args) => {
  const { code, stdout } = await outputOf(start({ key: '', url: '' }, args.split(' ')))
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^Usage: export-api /) })
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends a sync with %d, and the next one resumes', async (signal, code) => {
  let stop = () => {}
  const proxy = await startFaultProxy(inject('serviceUrl'), async ({ url }) => {
    if (!url?.includes('/sentiment')) return null
    stop()
    return new Promise(() => {})
  })
  const args = ['sync', '--out', join(folder, signal)]
  const child = start({ ...its, url: proxy.url }, args)
  stop = () => child.kill(signal)
  const { stdout, ...end } = await outputOf(child)
  await proxy.close()
  expect(end).toEqual({ code, stderr: '' })
  expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
    event: 'stopped',
    message: 'Stopped. The next run resumes where this one ended.',
  })
  expect(await sync(signal)).toMatchObject({ code: 0 })
  expect(await exportApi(its, 'verify', join(folder, signal))).toMatchObject({ code: 0 })
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
  const ts = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/)
  const last = { ts, level: 'error', event: 'failed', message: stderr.trim(), exitCode: 2 }
  expect({ code, last: log.at(-1) }).toEqual({ code: 2, last })
})

test('prints its version, and nothing when it is quiet', async () => {
  expect((await outputOf(start(its, ['--version']))).stdout).toBe(`${manifest.version}\n`)
  expect(await sync('quiet', '--quiet')).toMatchObject({ code: 0, log: [], stderr: '' })
})

test('verify names damaged files and days, and repairs them', async () => {
  const copy = join(folder, 'verified')
  const verify = async (...args: string[]) => {
    const { log, ...end } = await exportApi(its, 'verify', copy, ...args)
    const differing = log.filter(({ event }) => event === 'differs')
    return { ...end, messages: differing.map(({ message }) => message).sort(), last: log.at(-1) }
  }
  expect(await verify()).toMatchObject({ code: 2, stderr: `${copy} has no copy. Run sync first.\n` })
  expect(await sync('verified')).toMatchObject({ code: 0 })
  // The rows of files with the stored hash are trusted, unless it is full.
  expect((await verify()).last).toMatchObject({ event: 'verified', rows: 0, files: 13, days: 24 })
  expect((await verify('--full')).last).toMatchObject({ event: 'verified', differences: 0, rows: 28 })
  const store = folderStore(copy)
  const [missing = '', byte = '', cut = '', link = '', brands = ''] = await Promise.all(
    ['sentiment', 'competitors', 'visibility', 'citations', 'brands'].map(
      async (endpoint) => (await filesIn(store, endpoint))[0],
    ),
  )
  await rename(join(copy, missing), join(copy, 'moved'))
  const bytes = await readFile(join(copy, byte))
  // In the statistics: the rows stay as they are.
  bytes.write('r', bytes.lastIndexOf('Rival'))
  await writeFile(join(copy, byte), bytes)
  await truncate(join(copy, cut), 100)
  await rm(join(copy, link))
  await symlink(join(copy, 'moved'), join(copy, link))
  await truncate(join(copy, brands), 0)
  await its.say('2026-10-31T13:00:00Z', { mentions: ['Acme'] })
  await refresh(db)
  const changed = (table: string) =>
    expect.stringMatching(
      `^${table}: 2026-10-31 of Acme: digest \\w{15} instead of \\w{15}\\. It changed after the sync\\.$`,
    )
  expect(await verify()).toMatchObject({
    code: 1,
    messages: [
      'brands: The brands differ.',
      `${link}: It is no file.`,
      `${byte}: The file is not the one that sync wrote.`,
      changed('competitors'),
      `${missing}: The file is missing.`,
      `${cut}: The file is not the one that sync wrote.`,
      changed('visibility'),
    ],
    stderr: '7 differences. Run sync, and verify with --repair what still differs.\n',
  })
  expect(await verify('--repair')).toMatchObject({ code: 0, messages: [], last: { event: 'verified' } })
})

test('a copy of a part stays one until a sync asks for more, and no sync for less', async () => {
  const ends: unknown[] = []
  for (const part of [
    ['--endpoint', 'visibility', '--to', '2026-10-31'],
    [],
    ['--endpoint', 'visibility', 'sentiment'],
    ['--to', '9999-12-31'],
    ['--from', '2026-10-31'],
    [],
  ]) {
    const { code, log } = await sync('parts', ...part)
    ends.push([code, log.at(-1)?.rows])
  }
  // Two days of visibility, those of sentiment, and the others of both.
  expect(ends).toEqual([
    [0, 2],
    [0, 0],
    [0, 2],
    [0, 4],
    [64, undefined],
    [0, 0],
  ])
  const { stderr } = await sync('parts', '--brand', 'Acme')
  expect(stderr).toBe(
    `${join(folder, 'parts')} has the days from 0001-01-01 to 9999-12-31 of sentiment, visibility and of all brands. A sync can add to that, but leave out nothing: leave out the options to continue it, or use another folder for less. To draw some brands, use export-api report --brand.\n`,
  )
  expect(await exportApi(its, 'verify', join(folder, 'parts'), '--full')).toMatchObject({ code: 0 })
})
