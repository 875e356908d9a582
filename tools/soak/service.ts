import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** Starts the service as `npm start` does, in a process of its own. Throws when that exits. */
export async function startService(databaseUrl: string, redisUrl: string) {
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
  return {
    url: addresses.get('Export API') ?? '',
    /** The address of the Workers' debugger. */
    inspector: addresses.get('Inspector') ?? '',
    /** How often each event was logged. */
    events,
    close: async () => {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}
