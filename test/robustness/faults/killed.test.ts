import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { expectWholeOrUnavailable } from '../../faults/assertions.ts'
import { type Answer, call } from '../../fixtures/call.ts'
import { withClient } from '../../fixtures/database.ts'
import { fillDaily } from '../../fixtures/fill-daily.ts'
import { startOwnService } from '../../fixtures/own-service.ts'
import { prepare } from '../../fixtures/schema.ts'
import { tenant } from '../../fixtures/tenant.ts'

const PORT = '54399'
const url = `postgres://postgres@127.0.0.1:${PORT}/postgres`
const binaries = globSync('/usr/lib/postgresql/*/bin').sort().at(-1)
let postmaster: ChildProcess | undefined

// PostgreSQL refuses to run as root.
const idOf = (option: string) => Number(execFileSync('id', [option, 'postgres']))
const user = () => (process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {})

const folder = mkdtempSync(join(tmpdir(), 'export-api-postgres-'))
afterAll(() => {
  postmaster?.kill('SIGKILL')
  rmSync(folder, { recursive: true, maxRetries: 10, retryDelay: 100 })
})

/** Starts the server again until it accepts connections: processes of a killed one may still hold its files. */
const isUp = async () => {
  if (!postmaster || postmaster.exitCode !== null || postmaster.signalCode !== null) {
    const settings = ['listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`]
    const args = ['-D', join(folder, 'data'), '-p', PORT, ...settings.flatMap((setting) => ['-c', setting])]
    postmaster = spawn(join(binaries ?? '', 'postgres'), args, { ...user(), cwd: folder, stdio: 'ignore' })
  }
  return withClient(url, (client) => client.query('select')).then(
    () => true,
    () => false,
  )
}
const start = () => expect.poll(isUp, { interval: 100 }).toBe(true)

test.skipIf(binaries === undefined)(
  'a PostgreSQL that is killed gives 503 with Retry-After, and then whole pages again',
  async () => {
    const { uid, gid } = user()
    if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid)
    const initdb = ['-D', join(folder, 'data'), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync']
    execFileSync(join(binaries ?? '', 'initdb'), initdb, { ...user(), cwd: folder })
    await start()
    await withClient(url, prepare)
    const db = new pg.Pool({ connectionString: url })
    const { key, brandId } = await tenant(db)
    await fillDaily(db, { name: 'citations', brandId, rows: 1000, first: '2026-10-01', days: 1 })
    await db.end()

    const service = await startOwnService({ databaseUrl: url })
    const query = { brandId, fromDate: '2026-10-01', toDate: '2026-10-01' }
    const ask = () => call('/citations', { service: service.url, key, query })
    const whole = await ask()
    const answers: Answer[] = []
    let isAsking = true
    const clients = Array.from({ length: 4 }, async () => {
      while (isAsking) answers.push(await ask())
    })
    const next = (status: number) => {
      const from = answers.length
      const isAnswered = () => answers.slice(from).some((answer) => answer.status === status)
      return expect.poll(isAnswered).toBe(true)
    }
    for (let kills = 0; kills < 3; kills += 1) {
      await next(200)
      postmaster?.kill('SIGKILL')
      // A server that is back within Neon's tries fails no request.
      await next(503)
      await start()
    }
    await next(200)
    isAsking = false
    await Promise.all(clients)
    for (const answer of answers) expectWholeOrUnavailable(answer, whole)
    await service.close()
  },
  120_000,
)
