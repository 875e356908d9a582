import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { takePidLock } from '../../../cli/local/pid-lock.mjs'

/** Takes the lock 40 times, and fails when another process has it at the same time. */
const WORKER = `
import { mkdirSync, rmdirSync } from 'node:fs'
import { takePidLock } from ${JSON.stringify(resolve('cli/local/pid-lock.mjs'))}
const [lock] = process.argv.slice(1)
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
for (let taken = 0; taken < 40; ) {
  const { release } = takePidLock(lock)
  if (release !== undefined) {
    mkdirSync(lock + '-critical')
    await sleep(0)
    rmdirSync(lock + '-critical')
    // The last one is left to the process's end.
    if (++taken < 40) release()
  }
  await sleep(Math.random() * 5)
}`

const run = promisify(execFile)

test('of processes that find the lock of an ended one, one at a time has it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pid-lock-'))
  const lock = join(folder, 'lock')
  const { child } = run(process.execPath, ['--version'])
  const { pid } = child
  await new Promise((ended) => child.on('exit', ended))
  await mkdir(lock)
  await writeFile(join(lock, String(pid)), '')
  const arguments_ = ['--input-type=module', '--eval', WORKER, lock]
  await Promise.all(Array.from({ length: 6 }, () => run(process.execPath, arguments_)))
  const taken = takePidLock(lock)
  expect(taken.owner).toBeUndefined()
  taken.release?.()
  await rm(folder, { recursive: true })
})

test('a link and a folder of other files are no lock, and stay as they are', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pid-lock-'))
  const other = join(folder, 'other')
  await mkdir(other)
  await writeFile(join(other, 'notes'), '')
  await symlink(other, join(folder, 'link'))
  for (const name of ['link', 'link/notes', 'other'])
    expect(() => takePidLock(join(folder, name)), name).toThrow(`${join(folder, name)} is not a `)
  expect(await readdir(other)).toEqual(['notes'])
  expect((await readdir(folder)).sort()).toEqual(['link', 'other'])
  await rm(folder, { recursive: true })
})
