import { AsyncLocalStorage } from 'node:async_hooks'
import childProcess from 'node:child_process'
import { existsSync } from 'node:fs'
import http from 'node:http'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { Miniflare, type MiniflareOptions } from 'miniflare'
import { UsageError } from '../../drizzle/db/connect.ts'

const inMiniflare = new AsyncLocalStorage<true>()
const createHttpServer = http.createServer

// miniflare is CommonJS and reads this property. Imports of `createServer` by name keep the original.
Reflect.set(http, 'createServer', (...args: Parameters<typeof createHttpServer>) =>
  inMiniflare.getStore() ? createServer((socket) => socket.destroy()) : createHttpServer(...args),
)

const { resolve } = createRequire(import.meta.url)
const WORKERD: string =
  process.env.MINIFLARE_WORKERD_PATH ?? createRequire(resolve('miniflare'))('workerd').default

/** Sends a signal to a program when its parent ends. Linux has it. */
const SETPRIV = '/usr/bin/setpriv'

const { spawn } = childProcess

// workerd would outlive a process that is killed, and keep its port.
Reflect.set(childProcess, 'spawn', (command: string, args: string[], options: childProcess.SpawnOptions) =>
  command === WORKERD && existsSync(SETPRIV)
    ? spawn(SETPRIV, ['--pdeathsig', 'KILL', command, ...args], options)
    : spawn(command, args, options),
)

/** Throws {@link UsageError} when workerd does not run on this machine. miniflare would not say why. */
function requireWorkerd(): void {
  const { error, stderr, status } = childProcess.spawnSync(WORKERD, ['--version'], { encoding: 'utf8' })
  if (status === 0) return
  const reason = stderr?.trim().split('\n').at(-1) || (error?.message ?? `it ended with ${status}`)
  throw new UsageError(
    `workerd, which runs the Workers, does not run on this machine: ${reason}. It needs Linux with glibc 2.35 or later, such as Debian 12 or Ubuntu 22.04, macOS 13.5 or later, or Windows.`,
  )
}

/**
 * Creates a miniflare whose loopback server closes each connection: it would write and read any file for every local
 * user and web page. workerd needs it only for bindings that are functions, error pages and miniflare's own log.
 */
export function createMiniflare(options: MiniflareOptions): Miniflare {
  requireWorkerd()
  return inMiniflare.run(true, () => new Miniflare(options))
}
