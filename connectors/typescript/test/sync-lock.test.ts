import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { removeOldLocks, withLock } from '../cli/lock.ts'

const root = await mkdtemp(join(tmpdir(), 'sync-lock-'))
afterAll(() => rm(root, { recursive: true }))

const ended = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
await once(ended, 'exit')

const HOUR_MS = 3_600_000

/** Writes the lock of a process. Returns its folder. */
async function locked(name: string, owner: { pid: number | undefined; host: string }, ageMs = 0) {
  const folder = join(root, name)
  const lock = join(folder, '_lock')
  await mkdir(lock, { recursive: true })
  await writeFile(join(lock, 'owner.json'), JSON.stringify({ id: name, ...owner }))
  const touched = new Date(Date.now() - ageMs)
  await utimes(lock, touched, touched)
  return folder
}

test('one sync at a time writes a folder, and leaves no lock', async () => {
  const folder = join(root, 'folder')
  const inner = withLock(folder, () => withLock(folder, async () => 'inner'))
  await expect(inner).rejects.toThrow(/^Another sync writes this folder\. Wait for its end, or delete /)
  expect(await withLock(folder, async () => 'next')).toBe('next')
  expect(await readdir(folder)).toEqual([])
})

test('of several syncs that find the lock of a process that has ended, one takes it', async () => {
  const folder = await locked('ended', { pid: ended.pid, host: hostname() })
  let refused = 0
  // The holder stays until all others were refused.
  const tries = Array.from({ length: 8 }, () =>
    withLock(folder, () => expect.poll(() => refused, { timeout: 15_000 }).toBe(7)).catch(() => {
      refused += 1
    }),
  )
  await Promise.all(tries)
  expect(refused).toBe(7)
  expect(await readdir(folder)).toEqual([])
})

test.for([
  ['of a process that lives', { pid: process.ppid, host: hostname() }, HOUR_MS / 2, false],
  ['of a process whose number another one has', { pid: process.ppid, host: hostname() }, 2 * HOUR_MS, true],
  ['of another host that was touched', { pid: ended.pid, host: 'other' }, 0, false],
  ['of another host that was not touched', { pid: process.ppid, host: 'other' }, HOUR_MS, true],
  ['of another host from the future', { pid: process.ppid, host: 'other' }, -HOUR_MS, true],
] as const)('treats a lock %s', async ([name, owner, ageMs, isTaken]) => {
  const folder = await locked(name, owner, ageMs)
  const outcome = await withLock(folder, async () => true).catch(() => false)
  expect(outcome).toBe(isTaken)
})

test.for([
  ['just now', 0, false],
  ['long ago', HOUR_MS, true],
] as const)('treats a lock whose owner cannot be read, touched %s', async ([name, ageMs, isTaken]) => {
  const folder = await locked(`unknown ${name}`, { pid: 1, host: '' })
  const lock = join(folder, '_lock')
  await writeFile(join(lock, 'owner.json'), '{')
  const touched = new Date(Date.now() - ageMs)
  await utimes(lock, touched, touched)
  const outcome = await withLock(folder, async () => true).catch(() => false)
  expect(outcome).toBe(isTaken)
})

test('removes what processes left that were killed while they took a lock', async () => {
  const folder = await locked('left', { pid: ended.pid, host: hostname() })
  await rename(join(folder, '_lock'), join(folder, '_lock.left'))
  const other = await locked('left', { pid: process.ppid, host: hostname() })
  await rename(join(other, '_lock'), join(other, '_lock.other'))
  await removeOldLocks(folder)
  expect(await readdir(folder)).toEqual(['_lock.other'])
})

test('a folder that cannot be made is an error at once', async () => {
  await expect(withLock('/proc/x/y', async () => {})).rejects.toThrow(/ENOENT.*\/proc\/x/)
})
