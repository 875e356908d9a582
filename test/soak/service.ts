import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
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
  const port = await freePort()
  const child = spawn(process.execPath, ['emulator/main.ts'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PORT: String(port), DATABASE_URL: databaseUrl, REDIS_URL: redisUrl },
  })
  const events = new Map<string, number>()
  const lines = createInterface({ input: child.stdout })
  const ready = new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => {
      if (line.startsWith('Export API on ')) resolve()
      const event = /^\{"event":"(\w+)"/.exec(line)?.[1]
      if (event !== undefined) events.set(event, (events.get(event) ?? 0) + 1)
    })
    child.once('exit', (code) => reject(new Error(`The service ended with ${code}`)))
  })
  await ready
  const emulator = child.pid ?? 0
  const workerd = familyOf(emulator).find((pid) => programOf(pid) === 'workerd') ?? 0
  return { url: `http://127.0.0.1:${port}`, pids: { emulator, workerd }, events, close: () => end(child) }
}

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM')
  if (child.exitCode === null) await once(child, 'exit')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return address === null || typeof address === 'string' ? 0 : address.port
}
