import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { copyCheckout, type Start, startIn } from '../../fixtures/checkout.ts'

// npm start in a copy of the checkout, which keeps its data there. The tests build on each other.

const TIMEOUT = 300_000
const PATIENT = { timeout: TIMEOUT, interval: 50 }

let checkout: string
const started: Start[] = []

beforeAll(async () => {
  checkout = await copyCheckout()
})

afterAll(async () => {
  for (const start of started) await kill(start)
  await rm(checkout, { recursive: true })
})

function start(...args: string[]): Start {
  const start = startIn(checkout, args)
  started.push(start)
  return start
}

/** Ends the process and the workerd that would outlive it. */
async function kill({ child, ended }: Start): Promise<void> {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // Both have ended.
  }
  await ended
}

const prints = (start: Start, text: string) => expect.poll(() => start.output, PATIENT).toContain(text)

/** Runs a statement in the database that the banner names, and returns its rows. */
async function query(start: Start, sql: string): Promise<unknown[]> {
  const [, connectionString] = /DATABASE_URL=(\S+)/.exec(start.output) ?? []
  const client = new Client({ connectionString })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

test('a start that was killed before it served begins again', { timeout: TIMEOUT }, async () => {
  const killed = start()
  await expect.poll(() => existsSync(join(checkout, '.state/postgres/base')), PATIENT).toBe(true)
  await kill(killed)

  const next = start()
  await prints(next, '86 older days follow')
  await query(next, `update brands set name = 'Renamed by a user' where name = 'Vellamora'`)
  await kill(next)
})

test('the next start keeps what a user has changed, and loads the days that are missing', {
  timeout: TIMEOUT,
}, async () => {
  const next = start()
  await prints(next, 'All days are loaded.')
  const rows = await query(
    next,
    `select (select count(distinct date) from daily.visibility)::integer as days,
       (select count(*) from brands where name = 'Renamed by a user')::integer as renamed,
       (select count(*) from daily.refresh_queue)::integer as waiting`,
  )
  expect(rows).toEqual([{ days: 120, renamed: 1, waiting: 0 }])

  const other = start()
  await prints(other, 'another npm start keeps its own')
  expect(await query(other, `select from brands where name = 'Renamed by a user'`)).toEqual([])
  await kill(other)
  await kill(next)
})

test('the profile that a start writes reads files, which the next start still has', {
  timeout: TIMEOUT,
}, async () => {
  const first = start()
  await prints(first, 'Ctrl-C')
  await expect.poll(() => sharedFiles(first), PATIENT).not.toEqual([])
  const files = await sharedFiles(first)
  await kill(first)
  await Promise.all(['', 'postgres'].map((path) => chmod(join(checkout, '.state', path), 0o777)))

  const next = start()
  await prints(next, 'Ctrl-C')
  const again = await sharedFiles(next)
  expect(again.map(({ id }) => id)).toEqual(files.map(({ id }) => id))
  expect((await fetch(again[0]?.url ?? '')).status).toBe(200)
  // The secret that signs the URLs is that of the first start.
  const { pathname, search } = new URL(files[0]?.url ?? '')
  expect((await fetch(new URL(pathname + search, again[0]?.url))).status).toBe(200)
  for (const [path, mode] of [
    ['cursor-secret', 0o600],
    ['r2/bucket-id', 0o600],
    ['r2', 0o700],
    ['postgres', 0o700],
    ['', 0o700],
  ] as const)
    expect((await stat(join(checkout, '.state', path))).mode & 0o777, path).toBe(mode)
  await kill(next)
})

/** Queries a table with the profile of a start; no files before the first version. */
async function sharedFiles({ output }: Start): Promise<{ id: string; url: string }[]> {
  const [, port] = /http:\/\/127\.0\.0\.1:(\d+)/.exec(output) ?? []
  const profile = await readFile(join(checkout, `.state/demo-${port}.share`), 'utf8')
  const { endpoint, bearerToken } = JSON.parse(profile)
  const response = await fetch(`${endpoint}/shares/export/schemas/metrics/tables/brands/query`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${bearerToken}` },
  })
  const lines = (await response.text()).trimEnd().split('\n')
  return lines.flatMap((line) => JSON.parse(line).file ?? [])
}

test('data that cannot be used is reported in one line, and --fresh deletes it', {
  timeout: TIMEOUT,
}, async () => {
  await truncate(join(checkout, '.state/postgres/global/pg_control'))
  const failed = start()
  expect(await failed.ended).toEqual([1, null])
  expect(failed.output).toMatch(/^Cannot use the data of the last start: .* npm start -- --fresh\n$/)

  const fresh = start('--fresh')
  await prints(fresh, 'older days follow')
  expect(await query(fresh, `select from brands where name = 'Renamed by a user'`)).toEqual([])
})

// It still runs.
test.runIf(process.platform === 'linux')('workerd ends with a process that is killed', async () => {
  const fresh = started.at(-1)
  const [origin = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(fresh?.output ?? '') ?? []
  const answer = () => fetch(origin).then(({ status }) => status, String)
  expect(await answer()).toBe(200)
  fresh?.child.kill('SIGKILL')
  await expect.poll(answer, PATIENT).toMatch(/fetch failed/)
})

const IN_NAMESPACE = ['--map-root-user', '--mount', 'sh', '-c']
const canMount = spawnSync('unshare', [...IN_NAMESPACE, 'mount -t tmpfs tmpfs /tmp']).status === 0

test.runIf(canMount).for([
  [
    'without room for files',
    'mkdir .state && mount -t tmpfs -o size=8M tmpfs .state',
    /ENOSPC\. The disk is full/,
  ],
  [
    'that is read-only',
    'mount --bind . . && mount -o remount,bind,ro . && cd "$PWD"',
    /EROFS: .* It cannot be written/s,
  ],
] as const)('a disk %s is reported in sentences', { timeout: TIMEOUT }, async ([, mount, message]) => {
  const own = await copyCheckout()
  onTestFinished(() => rm(own, { recursive: true }))
  const command = `${mount} && exec '${process.execPath}' emulator/main.ts`
  const { status, stderr } = spawnSync('unshare', [...IN_NAMESPACE, command], {
    cwd: own,
    env: { PATH: process.env.PATH, PORT: '0' },
    encoding: 'utf8',
    timeout: 100_000,
  })
  expect([status, stderr]).toEqual([1, expect.stringMatching(message)])
  expect(stderr).not.toMatch(/^ +at |errno/m)
})

test('a start deletes nothing below a link', async () => {
  const own = await copyCheckout()
  const other = await mkdtemp(join(tmpdir(), 'state-test-'))
  await mkdir(join(other, 'postgres'))
  await symlink(other, join(own, '.state'))
  const { PATH } = process.env
  const ended = spawnSync(process.execPath, ['emulator/main.ts'], {
    cwd: own,
    env: { PATH, PORT: '0' },
    encoding: 'utf8',
  })
  expect([ended.status, ended.stdout, ended.stderr.replaceAll('\n', ' ')]).toEqual([
    1,
    '',
    expect.stringMatching(/^\S+\.state is not a folder but a link or a file\. Delete it\. $/),
  ])
  expect(await readdir(other)).toEqual(['postgres'])
  await Promise.all([own, other].map((folder) => rm(folder, { recursive: true })))
})
