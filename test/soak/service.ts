import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { familyOf, programOf } from '../bench/cpu.ts'

/** The service as `npm start` runs it, in a process of its own. */
export type Service = {
  readonly url: string
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
    env: { ...process.env, PORT: '0', DATABASE_URL: databaseUrl, REDIS_URL: redisUrl },
  })
  const events = new Map<string, number>()
  const lines = createInterface({ input: child.stdout })
  const ready = new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      const address = /^Export API on (http:\/\/[^/]+)/.exec(line)?.[1]
      if (address !== undefined) resolve(address)
      const event = /^\{"event":"(\w+)"/.exec(line)?.[1]
      if (event !== undefined) events.set(event, (events.get(event) ?? 0) + 1)
    })
    child.once('exit', (code) => reject(new Error(`The service ended with ${code}`)))
  })
  const url = await ready
  const emulator = child.pid ?? 0
  const workerd = familyOf(emulator).find((pid) => programOf(pid) === 'workerd') ?? 0
  return { url, pids: { emulator, workerd }, events, close: () => end(child) }
}

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM')
  if (child.exitCode === null) await once(child, 'exit')
}
