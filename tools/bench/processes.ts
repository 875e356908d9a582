import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'

/** A server in a process of its own. */
export type Server = {
  readonly url: string
  readonly pid: number
  close(): Promise<void>
}

/** Milliseconds in which a server has to listen, and then in which it has to end. */
const PATIENCE_MS = { start: 60_000, end: 3_000 }

/**
 * Starts one of `peers/` with what it is told; rejects with what it printed when it does not come to listen.
 * It ends by itself when this process does.
 */
export async function startServer(script: string, toBudget: unknown): Promise<Server> {
  const child = fork(new URL(`./peers/${script}`, import.meta.url), [JSON.stringify(toBudget)], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    execArgv: [],
    env: { ...process.env, NODE_ENV: 'production', NODE_NO_WARNINGS: '1' },
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (text) => {
      printed = (printed + text).slice(-4_000)
    })
  }
  const end = async () => {
    if (child.connected) child.disconnect()
    await Promise.race([ended(child), delay(PATIENCE_MS.end, undefined, { ref: false })])
    child.kill('SIGKILL')
  }
  const url = await Promise.race([
    once(child, 'message').then(([message]) => String(message)),
    ended(child).then(() => null),
    delay(PATIENCE_MS.start, null, { ref: false }),
  ])
  if (url === null || child.pid === undefined) {
    await end()
    throw new Error(`${script} does not run: ${gist(printed)}`)
  }
  return { url, pid: child.pid, close: end }
}

const ended = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

/** The line of an error among much that was printed, or else the last. */
function gist(printed: string): string {
  const lines = printed.split('\n').filter((line) => line.trim() !== '')
  return (lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1) ?? 'it printed nothing')
    .trim()
    .slice(0, 300)
}
