import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasAll } from '../../../../test/fixtures/programs.ts'
import { database } from '../../../../test/fixtures/rows.ts'
import { answeredDays, type Scene } from '../../../../test/fixtures/scene.ts'
import { type ProxyFault, startFaultProxy } from '../../../certify/fault-proxy.ts'
import { objectStore } from '../../cli/object-store.ts'
import { expectExact, exportApi } from '../copy-command.ts'
import { startS3 } from '../s3-server.ts'

const db = database()

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
    await expectExact(expect, { db, copy, store: objectStore(copy, s3.env), setup: s3.setup, ...its })
    expect(await run(['verify', copy, '--full'])).toMatchObject({ code: 0 })
  }

  test('survives lost requests and responses, also of commits', async ({ onTestFinished }) => {
    const faults = new Map<string, ProxyFault[]>()
    const { url, close } = await startFaultProxy(s3.url, ({ method, url: path = '' }) => {
      const kind = `${method} ${/_delta_log|parquet/.exec(path)?.[0] ?? ''}`
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
    expect([faults.get('PUT _delta_log'), faults.get('PUT parquet')]).toEqual([[], []])
    await expectCopy('faulty')
    expect(await sync('faulty')).toMatchObject({ log: [{ event: 'done', requests: 2 }] })
  })

  test.each([
    [{ AWS_SECRET_ACCESS_KEY: 'wrong' }, 's3://copies/x', /: 403 SignatureDoesNotMatch\. /],
    [{}, 's3://other/x', /^GET .*\/other\/: 404 NoSuchBucket\. /],
  ])('a bucket that cannot be read ends the run: %j %s', async (env, copy, message) => {
    const { code, stderr } = await run(['sync', '--out', copy], env)
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) })
  })
})
