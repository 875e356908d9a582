import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'

/** A server in a process of its own. */
export type ServerProcess = {
  readonly url: string
  readonly pid: number
  readonly close: () => Promise<void>
}

/** What a server's process gets. */
export type ServerOptions = {
  readonly databaseUrl: string
  readonly redisUrl?: string | undefined
  /** Where a product is installed. */
  readonly folder?: string
}

const TIMEOUT_MS = { start: 60_000, end: 3_000 }

/** Starts a script of this folder. Throws with its output when it does not listen in time. */
export async function startProcess(script: string, options: ServerOptions): Promise<ServerProcess> {
  const child = fork(new URL(script, import.meta.url), [JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    execArgv: [],
    env: { ...process.env, NODE_ENV: 'production', NODE_NO_WARNINGS: '1' },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (text) => {
      output = (output + text).slice(-1_000)
    })
  }
  const close = async () => {
    if (child.connected) child.disconnect()
    await Promise.race([exited(child), delay(TIMEOUT_MS.end, undefined, { ref: false })])
    child.kill('SIGKILL')
  }
  const url = await Promise.race([
    once(child, 'message').then(([message]) => String(message)),
    exited(child).then(() => null),
    delay(TIMEOUT_MS.start, null, { ref: false }),
  ])
  if (url === null || child.pid === undefined) {
    await close()
    throw new Error(`${script} did not start: ${output}`)
  }
  return { url, pid: child.pid, close }
}

async function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
