import { existsSync } from 'node:fs'
import { readFile, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { portOf } from '../../../emulator/port.ts'
import { type ProxyFault, startHttpProxy } from '../../../test/faults/http-proxy.ts'
import { hasAll } from '../../../test/fixtures/programs.ts'
import { database, refresh } from '../../../test/fixtures/rows.ts'
import { answeredDays, type Scene } from '../../../test/fixtures/scene.ts'
import { UsageError } from '../cli/errors.ts'
import { objectStore } from '../cli/object-store.ts'
import { killSync } from './kill-sync.ts'
import { expectExact, exportApi, readManifest } from './parquet-copy.ts'
import { startS3 } from './s3-server.ts'

// Copies in a bucket, on an S3 server.

const db = database()

test.each([
  ['s3://', {}, /^Use s3:\/\/bucket\/prefix instead of /],
  ['s3://B/x', {}, /^Use s3:/],
  ['s3:///x', {}, /^Use s3:/],
  ['s3://bucket/a//b', {}, /^A part of the prefix is empty or has dots only: /],
  ['s3://bucket/a/../b', {}, /^A part of the prefix /],
  ['s3://bucket', { AWS_ENDPOINT_URL_S3: 'localhost:9000' }, /^AWS_ENDPOINT_URL_S3 must begin with https:/],
  ['s3://bucket', {}, /^Set AWS_ACCESS_KEY_ID/],
])('%s with %j is wrong usage', (location, environment, message) => {
  const open = () => objectStore(location, environment)
  expect(open).toThrow(UsageError)
  expect(open).toThrow(message)
})

test('a service that ignores conditional writes, or does not list, is an error', async ({
  onTestFinished,
}) => {
  let body = '<html><body>Sign in<br></body></html>'
  const server = createServer((_, response) => response.setHeader('ETag', '"1"').end(body)).listen(
    0,
    '127.0.0.1',
  )
  onTestFinished(() => void server.close())
  await expect.poll(() => server.listening).toBe(true)
  const store = objectStore('s3://bucket', {
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_ENDPOINT_URL: `http://127.0.0.1:${portOf(server)}`,
  })
  await expect(store.replaceText('x', '', undefined)).rejects.toThrow('ignores the conditions of writes')
  await expect(store.list()).rejects.toThrow('is none of the S3 protocol')
  body = '<html/>'
  await expect(store.list()).rejects.toThrow('is none of the S3 protocol')
})

describe.runIf(hasAll('versitygw'))('on an S3 server', () => {
  let s3: Awaited<ReturnType<typeof startS3>>
  let its: Scene

  beforeAll(async () => {
    s3 = await startS3()
    its = await answeredDays(db, { first: '2026-09-28', days: 6 })
  }, 300_000)
  afterAll(() => s3?.close())

  /** Runs the command with the bucket's variables, and others. */
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    exportApi({ ...its, env: { ...s3.env, ...env } }, ...args)
  const sync = (name: string, env?: Readonly<Record<string, string>>) =>
    run(['sync', '--out', `${s3.location}/${name}`], env)
  const expectCopy = async (name: string) => {
    const copy = `${s3.location}/${name}`
    await expectExact(expect, { db, copy, setup: s3.setup, ...its })
    expect(await run(['verify', copy, '--full'])).toMatchObject({ code: 0 })
  }
  const folderOf = (name: string): string => join(s3.folder, name)
  const namedFiles = (name: string): string[] => Object.values(readManifest(folderOf(name)).files).flat()
  const missing = (name: string, files: readonly string[]) =>
    files.filter((path) => !existsSync(join(folderOf(name), path)))

  test('a copy that was killed 60 times under restatements equals the service', async () => {
    const killed = await answeredDays(db, { first: '2026-09-20', days: 60 })
    const copy = `${s3.location}/killed`
    const kills = await killSync({
      db,
      its: killed,
      first: '2026-09-20',
      copy,
      kills: 60,
      bucketUrl: s3.url,
      env: s3.env,
      check: async () => {
        if (!existsSync(join(folderOf('killed'), 'manifest.json'))) return
        expect(missing('killed', namedFiles('killed'))).toEqual([])
      },
    })
    expect(kills).toBe(60)
    const access = { ...killed, env: s3.env }
    expect(await exportApi(access, 'sync', '--out', copy)).toMatchObject({ code: 0 })
    await expectExact(expect, { db, copy, setup: s3.setup, ...killed })
    expect(await exportApi(access, 'verify', copy, '--full')).toMatchObject({ code: 0 })
  })

  test('readers of a manifest find its files until the sync after the next', async () => {
    await sync('read')
    const first = namedFiles('read')
    for (const remain of [true, false]) {
      await its.say('2026-10-01T00:00:00Z', { mentions: ['Acme'] })
      await refresh(db)
      expect(await sync('read')).toMatchObject({ code: 0 })
      expect(missing('read', first).length === 0).toBe(remain)
      expect(missing('read', namedFiles('read'))).toEqual([])
    }
    await expectCopy('read')
    expect(await sync('read')).toMatchObject({ log: [{ event: 'done', requests: 2 }] })
  })

  test('of two syncs, one replaces the manifest', async ({ onTestFinished }) => {
    let hold: Promise<unknown> | undefined
    let reached = () => {}
    const isHeld = new Promise<void>((resolve) => {
      reached = resolve
    })
    const { url, close } = await startHttpProxy(s3.url, async ({ method, url: path }) => {
      if (method === 'PUT' && path?.includes('visibility')) {
        reached()
        await hold
      }
      return null
    })
    onTestFinished(close)
    let release = () => {}
    hold = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow = sync('both', { AWS_ENDPOINT_URL_S3: url })
    await isHeld
    expect(await sync('both')).toMatchObject({ code: 0 })
    release()
    expect(await slow).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^Another sync has written s3:.*both meanwhile\. Run sync again\.$/m),
    })
    // It has files that no manifest names.
    await expectCopy('both')
  })

  test('survives lost requests and responses, also of the manifest', async ({ onTestFinished }) => {
    const faults = new Map<string, ProxyFault[]>()
    const { url, close } = await startHttpProxy(s3.url, ({ method, url: path = '' }) => {
      const kind = `${method} ${/manifest|parquet/.exec(path)?.[0] ?? ''}`
      const left = faults.get(kind) ?? ['dropped', { status: 503 }, 'cut']
      faults.set(kind, left.slice(1))
      return left[0] ?? null
    })
    onTestFinished(close)
    const { code, log } = await sync('faulty', { AWS_ENDPOINT_URL_S3: url })
    expect({ code, wait: log.find(({ event }) => event === 'wait')?.message }).toEqual({
      code: 0,
      wait: expect.stringMatching(/^The bucket does not answer: .* Tries again\.$/),
    })
    expect(faults.get('PUT manifest')).toEqual([])
    await expectCopy('faulty')
  })

  test('an object that was changed is found and fetched again', async () => {
    await sync('damaged')
    const [damaged = '', deleted = ''] = readManifest(folderOf('damaged')).files.visibility ?? []
    await truncate(join(folderOf('damaged'), damaged), 10)
    await writeFile(
      join(folderOf('damaged'), 'endpoint=visibility/extra.parquet'),
      await readFile(join(folderOf('damaged'), deleted)),
    )
    const copy = `${s3.location}/damaged`
    expect(await run(['verify', copy])).toMatchObject({ code: 1 })
    expect(await run(['verify', copy, '--repair'])).toMatchObject({ code: 0 })
    await expectCopy('damaged')
  })

  test.each([
    [{ AWS_SECRET_ACCESS_KEY: 'wrong' }, 's3://copies/x', /: 403 SignatureDoesNotMatch\. /],
    [{}, 's3://other/x', /^GET .*\/other\/: 404 NoSuchBucket\. /],
  ])('a bucket that cannot be read ends the run: %j %s', async (env, copy, message) => {
    const { code, stderr } = await run(['sync', '--out', copy], env)
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) })
  })
})
