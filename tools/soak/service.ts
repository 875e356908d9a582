import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { workerdOf } from '../bench/cpu.ts'

/** The service as `npm start` runs it, in a process of its own. */
export type Service = {
  readonly url: string
  /** The address of the Workers' debugger. */
  readonly inspector: string
  readonly pids: { readonly emulator: number; readonly workerd: number }
  /** How often each event was logged. */
  readonly events: ReadonlyMap<string, number>
  readonly close: () => Promise<void>
}

/** Starts the service. Throws when its process exits. */
export async function startService(databaseUrl: string, redisUrl: string): Promise<Service> {
  const child = spawn(process.execPath, ['emulator/main.ts'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PORT: '0', INSPECTOR_PORT: '0', DATABASE_URL: databaseUrl, REDIS_URL: redisUrl },
  })
  const events = new Map<string, number>()
  const addresses = new Map<string, string>()
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [, name = '', address] = /^(Export API|Inspector) on (http:\/\/[^/]+)/.exec(line) ?? []
      if (address !== undefined) addresses.set(name, address)
      if (addresses.size === 2) resolve()
      const event = /^\{"event":"(\w+)"/.exec(line)?.[1]
      if (event !== undefined) events.set(event, (events.get(event) ?? 0) + 1)
    })
    child.once('exit', (code) => reject(new Error(`The service exited with ${code}`)))
  })
  const emulator = child.pid ?? 0
  return {
    url: addresses.get('Export API') ?? '',
    inspector: addresses.get('Inspector') ?? '',
    pids: { emulator, workerd: workerdOf(emulator)[0] ?? 0 },
    events,
    close: () => stop(child),
  }
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM')
  if (child.exitCode === null) await once(child, 'exit')
}
