import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openBucket } from '../../../cli/share/s3-bucket.ts'
import { refreshAll } from '../../../drizzle/db/refresh.ts'
import { announce } from '../../../emulator/running-service.ts'
import { STATE_FOLDER } from '../../../emulator/state.ts'
import { runCommand } from '../../fixtures/command.ts'
import { withClient } from '../../fixtures/database.ts'
import { isolatedPool } from '../../fixtures/isolated-database.ts'
import { startOwnService } from '../../fixtures/own-service.ts'
import { answeredDays } from '../../fixtures/scene.ts'

const { db, url } = await isolatedPool()
// Of a month that is over.
const scene = await answeredDays(db, { first: '2025-10-01', days: 3 })
const service = await startOwnService({ databaseUrl: url })
afterAll(() => service.close())

// Commands find the service as they find npm start.
announce({ ...service, isLoading: false })
const { port } = new URL(service.url)
// vitest ends its processes without their exit handlers.
afterAll(() => rmSync(join(STATE_FOLDER, `running-${port}.json`)))
const run = (
  command: string,
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = { PORT: port },
  options: Parameters<typeof runCommand>[3] = {},
) => runCommand(`${command}.ts`, args, { DATABASE_URL: url, ...environment }, options)

/** The emulator's bucket in the settings of a bucket that speaks the S3 API. */
const AS_SETTINGS = {
  SHARE_BUCKET: service.bucket.url.replace(/.*\//, ''),
  AWS_ENDPOINT_URL_S3: service.bucket.url.replace(/\/[^/]*$/, ''),
  AWS_ACCESS_KEY_ID: service.bucket.accessKeyId,
  AWS_SECRET_ACCESS_KEY: service.bucket.secretAccessKey,
}
const bucket = openBucket(AS_SETTINGS)

const currentObjects = async (): Promise<string[]> => {
  const { rows } = await db.query(
    `select id from daily.current_objects where period in ('brand', 'day') order by period, metric, first`,
  )
  return rows.map(({ id }) => `${id}.parquet`)
}

const oldest = async (): Promise<number> =>
  (await db.query('select min(version) as version from daily.versions')).rows[0].version

test('publish writes days, then months, and verifies them; then it has nothing to do', async () => {
  // Three days, a third and a month of five metrics, since `recommended_rate` begins later, and a brand.
  expect(await run('share-publish')).toMatchObject({
    code: 0,
    stdout: 'Published 26 objects as version 2.\nAll objects match the tables.\n',
  })
  expect(await run('share-publish')).toMatchObject({
    code: 0,
    stdout: 'Nothing has changed.\nAll objects match the tables.\n',
  })
})

test('publish names the bucket of the settings', async () => {
  expect((await run('verify', ['--share'], { ...AS_SETTINGS, PORT: '1' })).code).toBe(0)
  expect(
    (await run('share-publish', [], { ...AS_SETTINGS, AWS_SECRET_ACCESS_KEY: 'other', PORT: '1' })).stderr,
  ).toMatch(/^\w+ http:.*: 403 SignatureDoesNotMatch\. .*\nCheck SHARE_BUCKET, .*\.$/m)
})

test('verify --share names wrong objects, and publish replaces them and ends the versions that name them', async () => {
  const { rows: latest } = await db.query('select max(version) as version from daily.versions')
  const all = await currentObjects()
  // The brand's own row, three days of citation_share, one of citations.
  const [brand = '', missing = '', short = '', other = '', swapped = ''] = all
  const read = async (name: string) => Buffer.from((await bucket.read(name)) ?? '')
  const content = await read(other)
  await bucket.delete([missing])
  await bucket.put(short, new Uint8Array(9))
  await bucket.put(swapped, new Uint8Array(content))
  await db.query('update daily.objects set bytes = $1 where id = $2', [content.length, swapped.slice(0, 36)])
  const renamed = (await read(brand)).toString('latin1').replaceAll('Acme', 'Acne')
  await bucket.put(brand, new Uint8Array(Buffer.from(renamed, 'latin1')))
  const found = await run('verify', ['--share'])
  expect(found).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^4 objects differ from the tables\./),
  })
  expect(found.stdout).toContain(`${missing}: its object is missing`)
  expect(found.stdout).toContain(`${short}: it has 9 bytes instead of`)
  expect(found.stdout).toContain(`${swapped}: its rows are not those of`)
  expect(found.stdout).toContain(`${brand}: its rows are not those of brands`)
  expect(await run('share-publish')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Replaced 4 objects\. All objects match the tables\.$/m),
  })
  expect(await oldest()).toBeGreaterThan(latest[0].version)
  const left = await currentObjects()
  expect(left).toHaveLength(all.length)
  expect(all.filter((name) => !left.includes(name)).sort()).toEqual([brand, missing, short, swapped].sort())
  expect(await bucket.exists(swapped), 'what a URL of it would serve').toBe(false)
  expect(await run('verify', ['--share'])).toMatchObject({ code: 0 })
})

test('publish waits while another publisher works, and says who does', async () => {
  const { rows } = await db.query<{ lease: string }>(`select daily.take_lease('a test') as lease`)
  const { number, until } = JSON.parse(rows[0]?.lease ?? '')
  const release = () => db.query('select daily.release_lease($1)', [number])
  expect(await run('share-publish', [], { PORT: port }, { onStdout: release })).toMatchObject({
    code: 0,
    stdout:
      `Another publisher works: a test. Its lease ends at ${until}, unless it goes on. Waiting.\n` +
      'Nothing has changed.\nAll objects match the tables.\n',
  })
})

test('a day that changed after it was published is no wrong object', async () => {
  await scene.say('2025-10-03T09:00:00Z')
  await withClient(url, (client) => refreshAll(client))
  expect(await run('verify', ['--share'])).toMatchObject({
    code: 0,
    stdout: 'All objects match the tables.\n',
  })
})

test('without a service or settings the error says what to do', async () => {
  expect(await run('share-publish', [], { PORT: '1' })).toMatchObject({
    code: 1,
    stderr: 'No service runs on port 1. Run npm start first, or set SHARE_BUCKET.\n',
  })
})
