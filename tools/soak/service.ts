import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { familyOf, programOf } from '../bench/cpu.ts'

/** The service as `npm start` runs it, in a process of its own. */
export type Service = {
  readonly url: string
  /** Where a debugger reaches the Workers. */
  readonly inspector: string
  /** The emulator's process and the runtime's. */
  readonly pids: { readonly emulator: number; readonly workerd: number }
  /** Lines that it logged, by their event. */
  readonly events: ReadonlyMap<string, number>
  readonly close: () => Promise<void>
}

/** Starts it on servers; rejects when it ends instead. */
export async function startService(databaseUrl: string, redisUrl: string): Promise<Service> {
  const child = spawn(process.execPath, ['emulator/main.ts'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PORT: '0', INSPECTOR_PORT: '0', DATABASE_URL: databaseUrl, REDIS_URL: redisUrl },
  })
  const events = new Map<string, number>()
  const lines = createInterface({ input: child.stdout })
  const addresses = new Map<string, string>()
  await new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => {
      const [, what, address] = /^(Export API|Inspector) on (http:\/\/[^/]+)/.exec(line) ?? []
      if (what !== undefined && address !== undefined) addresses.set(what, address)
      if (addresses.size === 2) resolve()
      const event = /^\{"event":"(\w+)"/.exec(line)?.[1]
      if (event !== undefined) events.set(event, (events.get(event) ?? 0) + 1)
    })
    child.once('exit', (code) => reject(new Error(`The service ended with ${code}`)))
  })
  const [url = '', inspector = ''] = ['Export API', 'Inspector'].map((what) => addresses.get(what))
  const emulator = child.pid ?? 0
  const workerd = familyOf(emulator).find((pid) => programOf(pid) === 'workerd') ?? 0
  return { url, inspector, pids: { emulator, workerd }, events, close: () => end(child) }
}

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM')
  if (child.exitCode === null) await once(child, 'exit')
}
